//! The settings of the app.

use std::num::{NonZeroU32, NonZeroUsize};

use anyhow::Context as _;
use chrono::TimeDelta;
use clap::Args;
use refract_file_runs::{RUN_CONCURRENCY, WorkerSettings};
use refract_service::people::AppUrl;

use crate::arguments;

/// The default address of the app's listener.
pub const DEFAULT_APP_LISTEN: &str = "127.0.0.1:8081";

/// The settings of the app.
#[derive(Args, Clone)]
#[command(next_help_heading = "App")]
pub struct AppArgs {
    /// Address of the app; `off` disables it [default: 127.0.0.1:8081]
    #[arg(long, env = "REFRACT_APP_LISTEN", value_name = "ADDRESS")]
    pub app_listen: Option<String>,

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
    pub app_trusted_proxies: String,

    /// The largest file that the app takes for a run, in MiB
    #[arg(
        long,
        env = "REFRACT_APP_UPLOAD_MIB",
        default_value = "100",
        value_parser = arguments::from_1::<NonZeroU32>,
        value_name = "MIB"
    )]
    app_upload_mib: NonZeroU32,

    /// Days after which an uploaded file is deleted; results of its runs are kept
    #[arg(
        long,
        env = "REFRACT_APP_KEEP_UPLOADS_DAYS",
        default_value = "30",
        value_parser = arguments::days::<NonZeroU32>,
        value_name = "DAYS"
    )]
    app_keep_uploads_days: NonZeroU32,
}

impl AppArgs {
    /// Whether the app is served.
    pub fn is_on(&self) -> bool {
        self.app_listen.as_deref() != Some("off")
    }

    /// Most bytes of a file that the app takes for a run.
    pub fn upload_bytes(&self) -> u64 {
        u64::from(self.app_upload_mib.get()) * 1024 * 1024
    }

    /// The limits of a node's work on file runs, given the most model requests in flight.
    pub fn file_runs(&self, model_requests: usize) -> WorkerSettings {
        let of_model = NonZeroUsize::new(model_requests).unwrap_or(NonZeroUsize::MIN);
        WorkerSettings {
            concurrency: RUN_CONCURRENCY.min(of_model),
            keep_uploads: self.upload_age(),
        }
    }

    /// The age at which an uploaded file is deleted.
    pub fn upload_age(&self) -> TimeDelta {
        TimeDelta::days(self.app_keep_uploads_days.get().into())
    }

    /// The app's address in a browser, for links by commands that have no listener.
    ///
    /// # Errors
    /// An invalid value of `REFRACT_APP_URL`.
    pub fn url(&self) -> anyhow::Result<AppUrl> {
        let set = self.app_listen.as_deref();
        let listen = set.filter(|set| !matches!(*set, "" | "off"));
        self.url_of(listen.unwrap_or(DEFAULT_APP_LISTEN))
    }

    /// The app's address in a browser: as set, or by default that of the listener.
    ///
    /// # Errors
    /// An invalid value of `REFRACT_APP_URL`.
    pub fn url_of(&self, listen: &str) -> anyhow::Result<AppUrl> {
        let set = self.app_url.as_deref().filter(|url| !url.is_empty());
        let url = set.map_or_else(|| format!("http://{listen}"), str::to_owned);
        AppUrl::parse(&url).with_context(|| arguments::cannot_be_used("REFRACT_APP_URL"))
    }
}
