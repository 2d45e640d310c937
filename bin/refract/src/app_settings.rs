//! The settings of the app.

use std::net::TcpListener;

use anyhow::Context as _;
use clap::Args;
use refract_app::AppUrl;
use refract_http_serving::TrustedProxies;

use crate::api_url::ApiUrl;
use crate::{arguments, settings};

/// Where the app is served when nothing is set.
const DEFAULT_LISTEN: &str = "127.0.0.1:8081";

/// The settings of the app.
#[derive(Args, Clone)]
#[command(next_help_heading = "App")]
#[expect(
    clippy::struct_field_names,
    reason = "clap names flags after them, beside those of the commands that they are part of"
)]
pub(crate) struct AppArgs {
    /// Address of the app; `off` disables it [default: 127.0.0.1:8081]
    #[arg(long, env = "REFRACT_APP_LISTEN", value_name = "ADDRESS")]
    app_listen: Option<String>,

    /// The app's address as people type it [default: http:// and the listener]
    #[arg(long, env = "REFRACT_APP_URL", value_name = "URL")]
    app_url: Option<String>,

    /// Networks of proxies, separated by commas, whose `X-Forwarded-For` names the client, for the
    /// API and the app
    #[arg(
        long,
        env = "REFRACT_APP_TRUSTED_PROXIES",
        default_value = "",
        hide_default_value = true,
        value_name = "NETWORKS"
    )]
    app_trusted_proxies: String,
}

/// The bound listener of the app, with its address for people.
pub(crate) struct AppListener {
    pub(crate) listener: TcpListener,
    pub(crate) url: AppUrl,
    /// The API's address, which pages show.
    pub(crate) api_url: ApiUrl,
    /// The number of connections that each worker may hold.
    pub(crate) connections: usize,
}

impl AppArgs {
    /// Binds the app's listener; `None` when the app is off.
    ///
    /// The default address may be taken, as by a second node on one machine: then the node serves
    /// without the app and says so. An address that was set must be free.
    pub(crate) fn bind(
        &self,
        api_url: ApiUrl,
        connections: usize,
    ) -> anyhow::Result<Option<AppListener>> {
        let listener = match self.app_listen.as_deref().filter(|set| !set.is_empty()) {
            Some("off") => return Ok(None),
            Some(set) => settings::bind("REFRACT_APP_LISTEN", set)?,
            None => match settings::bind("REFRACT_APP_LISTEN", DEFAULT_LISTEN) {
                Ok(listener) => listener,
                Err(error) => {
                    tracing::warn!(
                        "the app is not served: {error:#}; set REFRACT_APP_LISTEN to another address, or to off"
                    );
                    return Ok(None);
                }
            },
        };
        self.at(listener, api_url, connections).map(Some)
    }

    /// Binds the app's listener to its address, or to a free port when that is taken.
    pub(crate) fn bind_or_free(
        &self,
        api_url: ApiUrl,
        connections: usize,
    ) -> anyhow::Result<Option<AppListener>> {
        let set = self.app_listen.as_deref().unwrap_or(DEFAULT_LISTEN);
        if set == "off" {
            return Ok(None);
        }
        let listener = settings::bind_or_free("REFRACT_APP_LISTEN", set)?;
        self.at(listener, api_url, connections).map(Some)
    }

    /// Whether the app is to be served.
    pub(crate) fn is_on(&self) -> bool {
        self.app_listen.as_deref() != Some("off")
    }

    /// The app's address for people, as commands put it into links without a listener of their own.
    pub(crate) fn url(&self) -> anyhow::Result<AppUrl> {
        let set = self.app_listen.as_deref();
        let listen = set.filter(|set| !matches!(*set, "" | "off"));
        self.url_of(listen.unwrap_or(DEFAULT_LISTEN))
    }

    /// The proxies that are believed who a request's client is.
    pub(crate) fn trusted_proxies(&self) -> anyhow::Result<TrustedProxies> {
        let proxies = self.app_trusted_proxies.parse();
        proxies.with_context(|| arguments::cannot_be_used("REFRACT_APP_TRUSTED_PROXIES"))
    }

    fn at(
        &self,
        listener: TcpListener,
        api_url: ApiUrl,
        connections: usize,
    ) -> anyhow::Result<AppListener> {
        let address = settings::as_reached(listener.local_addr()?);
        let url = self.url_of(&address.to_string())?;
        Ok(AppListener {
            listener,
            url,
            api_url,
            connections,
        })
    }

    fn url_of(&self, listen: &str) -> anyhow::Result<AppUrl> {
        let set = self.app_url.as_deref().filter(|url| !url.is_empty());
        let url = set.map_or_else(|| format!("http://{listen}"), str::to_owned);
        AppUrl::parse(&url).with_context(|| arguments::cannot_be_used("REFRACT_APP_URL"))
    }
}
