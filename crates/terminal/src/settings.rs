//! The configuration: environment variables, each also a flag.

mod app;
mod database;
mod model;

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use refract_service::model::{ChatPrompt, ModelEndpoint, ModelPrices, ModelSettings, Protocol};

pub(crate) use self::app::ApiUrlArgs;
pub use self::app::{ApiUrl, AppArgs, DEFAULT_APP_LISTEN, NotAnApiUrl, SignOnArgs};
pub use self::database::{DatabaseArgs, RetentionArgs};
use self::model::{ModelConnectionArgs, ModelKeyArgs};
use crate::arguments::{self, cannot_be_used};
pub use crate::settings_file::ConfigArgs;
pub use crate::telemetry::{LogFormat, LogSettings};

/// The settings of the model.
#[derive(Args, Clone)]
#[command(next_help_heading = "Model")]
#[expect(
    clippy::struct_field_names,
    reason = "clap names flags after them, beside those of the commands that they are part of"
)]
pub struct ModelArgs {
    /// Base address of a model server up to its `/v1`, or its endpoint's whole address, or several of one
    /// model, separated by commas; or `builtin:lexical`, a toy for trying
    #[arg(long, env = "REFRACT_MODEL_URL", value_name = "URL")]
    model_url: Option<String>,

    /// What that server speaks: `systemone`, `decisions`, `gemini`, `chat` or `stated`
    #[arg(
        long,
        env = "REFRACT_MODEL_PROTOCOL",
        default_value = "systemone",
        value_name = "PROTOCOL"
    )]
    model_protocol: String,

    /// Sent as `model` [default: jev-latest over `systemone`, else default]
    #[arg(long, env = "REFRACT_MODEL_NAME", value_name = "NAME")]
    model_name: Option<String>,

    #[command(flatten)]
    model_key: ModelKeyArgs,

    #[command(flatten)]
    model_connections: ModelConnectionArgs,

    /// A `systemone`, `decisions` or `gemini` request is split above this estimate
    #[arg(
        long,
        env = "REFRACT_MODEL_REQUEST_TOKENS",
        default_value = "52000",
        value_parser = arguments::from_1::<NonZeroUsize>,
        value_name = "N"
    )]
    model_request_tokens: NonZeroUsize,

    /// Most questions in one `systemone`, `decisions` or `gemini` request
    #[arg(
        long,
        env = "REFRACT_MODEL_REQUEST_QUESTIONS",
        default_value = "100",
        value_parser = arguments::from_1::<NonZeroUsize>,
        value_name = "N"
    )]
    model_request_questions: NonZeroUsize,

    /// Requests a minute that each model server allows this node
    #[arg(
        long,
        env = "REFRACT_MODEL_REQUESTS_PER_MINUTE",
        value_parser = arguments::from_1::<NonZeroU32>,
        value_name = "N"
    )]
    model_requests_per_minute: Option<NonZeroU32>,

    /// Estimated tokens a minute that each model server allows this node
    #[arg(
        long,
        env = "REFRACT_MODEL_TOKENS_PER_MINUTE",
        value_parser = arguments::from_1::<NonZeroU32>,
        value_name = "N"
    )]
    model_tokens_per_minute: Option<NonZeroU32>,

    /// Milliseconds for one attempt at the model
    #[arg(
        long,
        env = "REFRACT_MODEL_TIMEOUT_MS",
        default_value = "15000",
        value_parser = arguments::milliseconds_from_1,
        value_name = "MS"
    )]
    model_timeout_ms: NonZeroUsize,

    /// Model requests in flight per node; others wait their turn
    #[arg(
        long,
        env = "REFRACT_MODEL_CONCURRENCY",
        default_value = "1024",
        value_parser = arguments::from_1::<NonZeroUsize>,
        value_name = "N"
    )]
    model_concurrency: NonZeroUsize,

    /// Prompt of `chat`: `4` lists the questions first, unless they are long; `3` puts the text first
    #[arg(
        long,
        env = "REFRACT_MODEL_PROMPT",
        default_value = "4",
        value_name = "PROMPT"
    )]
    model_prompt: String,

    /// Further requests that a `chat` question with many outcomes may cost
    #[arg(
        long,
        env = "REFRACT_MODEL_FOLLOW_UPS",
        default_value = "26",
        value_parser = arguments::from_0::<usize>,
        value_name = "N"
    )]
    model_follow_ups: usize,

    #[command(flatten)]
    model_prices: PricesArg,
}

/// The prices of the model.
#[derive(Args, Clone)]
pub struct PricesArg {
    /// Prices for a thousand tokens read, cached and written, for a model server that reports no cost:
    /// three decimals, such as `0.00015,0.000075,0.0006`
    #[arg(long, env = "REFRACT_MODEL_PRICES", value_name = "PRICES")]
    model_prices: Option<String>,
}

impl ModelArgs {
    /// Converts the settings to those of the gateway. A missing address is an error, so that a
    /// forgotten setting does not lead to answers of the built-in scorer.
    ///
    /// # Errors
    /// A missing address, or an invalid value.
    pub fn settings(&self) -> anyhow::Result<ModelSettings> {
        let Some(url) = self.model_url.as_deref().filter(|url| !url.is_empty()) else {
            bail!(
                "REFRACT_MODEL_URL is not set: give the address of a model server, such as \
                 http://127.0.0.1:8000/v1, or builtin:lexical to try the service without a model"
            );
        };
        self.settings_for(url)
    }

    /// Converts the settings to those of the gateway, with the built-in scorer if no address is
    /// set.
    ///
    /// # Errors
    /// An invalid value.
    pub fn settings_or_demo_scorer(&self) -> anyhow::Result<ModelSettings> {
        let given = self.model_url.as_deref().filter(|url| !url.is_empty());
        self.settings_for(given.unwrap_or("builtin:lexical"))
    }

    /// The model's name as it is set; `None` for the protocol's.
    pub(crate) fn given_name(&self) -> Option<&str> {
        self.model_name.as_deref().filter(|name| !name.is_empty())
    }

    fn settings_for(&self, url: &str) -> anyhow::Result<ModelSettings> {
        let endpoint: ModelEndpoint = url
            .parse()
            .with_context(|| cannot_be_used("REFRACT_MODEL_URL"))?;
        let protocol: Protocol = self
            .model_protocol
            .parse()
            .with_context(|| cannot_be_used("REFRACT_MODEL_PROTOCOL"))?;
        let prompt: ChatPrompt = self
            .model_prompt
            .parse()
            .with_context(|| cannot_be_used("REFRACT_MODEL_PROMPT"))?;
        let api_key = self.model_key.key()?;
        let name = self.given_name().unwrap_or(protocol.default_model());
        Ok(ModelSettings {
            endpoint,
            protocol,
            name: name.to_owned(),
            api_key,
            connections: self.model_connections.connections()?,
            request_tokens: self.model_request_tokens.get(),
            request_questions: self.model_request_questions,
            requests_per_minute: self.model_requests_per_minute,
            tokens_per_minute: self.model_tokens_per_minute,
            timeout: milliseconds(self.model_timeout_ms.get()),
            concurrency: self.model_concurrency.get(),
            prompt,
            follow_ups: self.model_follow_ups,
            prices: self.model_prices.prices()?,
        })
    }
}

impl PricesArg {
    /// The prices; `None` if they are not set.
    ///
    /// # Errors
    /// An invalid value.
    pub(crate) fn prices(&self) -> anyhow::Result<Option<ModelPrices>> {
        let given = self.model_prices.as_deref();
        let given = given.filter(|text| !text.trim().is_empty());
        let prices = given.map(str::parse::<ModelPrices>).transpose();
        prices.with_context(|| cannot_be_used("REFRACT_MODEL_PRICES"))
    }
}

/// The settings of the server.
#[derive(Args, Clone)]
#[command(next_help_heading = "Server")]
pub struct ServeArgs {
    /// Address of the API, which is under `/v1`
    #[arg(
        long,
        env = "REFRACT_LISTEN",
        default_value = "127.0.0.1:8080",
        value_name = "ADDRESS"
    )]
    pub listen: String,

    /// Address of `/healthz`, `/readyz` and `/metrics`; `off` disables it
    #[arg(
        long,
        env = "REFRACT_OPS_LISTEN",
        default_value = "127.0.0.1:9090",
        value_name = "ADDRESS"
    )]
    pub ops_listen: String,

    /// Milliseconds that calls in flight may take to finish after SIGTERM or SIGINT
    #[arg(
        long,
        env = "REFRACT_SHUTDOWN_GRACE_MS",
        default_value = "35000",
        value_parser = arguments::milliseconds_from_0,
        value_name = "MS"
    )]
    shutdown_grace_ms: usize,

    /// Memory budget in MiB for all request bodies and forms in flight; further ones wait
    #[arg(
        long,
        env = "REFRACT_BODY_BUDGET_MIB",
        default_value = "256",
        value_name = "MIB"
    )]
    pub body_budget_mib: usize,

    /// HTTP workers (1–512) [default: one per core]
    #[arg(long, env = "REFRACT_WORKERS", value_name = "N", value_parser = arguments::workers)]
    workers: Option<NonZeroUsize>,

    #[command(flatten)]
    api: ApiUrlArgs,
}

impl ServeArgs {
    /// How long calls in flight may take to finish after the shutdown signal.
    pub fn grace(&self) -> Duration {
        milliseconds(self.shutdown_grace_ms)
    }

    /// The API's address as callers type it; by default that of the listener.
    ///
    /// # Errors
    /// An invalid value of `REFRACT_API_URL`.
    pub fn api_url(&self, listener: SocketAddr) -> anyhow::Result<ApiUrl> {
        self.api.url_of(&as_reached(listener).to_string())
    }

    /// The number of HTTP workers: as set, or one per core.
    pub fn workers(&self) -> NonZeroUsize {
        let cores = || std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        self.workers
            .unwrap_or_else(|| cores().min(arguments::MOST_WORKERS))
    }
}

/// Parses the socket address in a setting's value.
///
/// # Errors
/// The value is not an address; the message names the setting.
pub fn address(setting: &str, value: &str) -> anyhow::Result<SocketAddr> {
    let found = value
        .to_socket_addrs()
        .ok()
        .and_then(|mut addresses| addresses.next());
    found.with_context(|| {
        let example = if value.parse::<u16>().is_ok() {
            format!("is a port: write an address such as 127.0.0.1:{value}")
        } else {
            "is no address such as 127.0.0.1:8080".to_owned()
        };
        format!("{}: '{value}' {example}", cannot_be_used(setting))
    })
}

/// The address at which this machine reaches a listener: loopback if it listens on every address.
pub fn as_reached(listener: SocketAddr) -> SocketAddr {
    let loopback: IpAddr = match listener {
        SocketAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        SocketAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    if listener.ip().is_unspecified() {
        SocketAddr::new(loopback, listener.port())
    } else {
        listener
    }
}

/// A duration of this many milliseconds.
pub fn milliseconds(number: usize) -> Duration {
    Duration::from_millis(u64::try_from(number).unwrap_or(u64::MAX))
}
