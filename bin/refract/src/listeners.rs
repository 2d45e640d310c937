//! The bound listeners of a node. And the file descriptors that a node needs in addition to its
//! clients' connections. The numbers were counted in `/proc/self/fd` under load.

use std::net::{SocketAddr, TcpListener};

use anyhow::Context as _;
use refract_app::{APP_WORKERS, AppSettings};
use refract_file_runs::WorkbookBudget;
use refract_http_api::HttpSettings;
use refract_http_serving::{ConnectionShares, DescriptorNeeds, RequestMetrics};
use refract_identity::people::AppUrl;
use refract_model_gateway::ModelGateway;
use refract_persistence::{DatabaseSettings, DatabaseUrl};
use refract_terminal::arguments::setting_name;
use refract_terminal::settings::{self, ApiUrl, AppArgs, DEFAULT_APP_LISTEN};

/// The setting of the app's address.
const APP_LISTEN: &str = "REFRACT_APP_LISTEN";

/// The bound listener of the app, with the app's address in a browser.
pub(crate) struct AppListener {
    pub(crate) listener: TcpListener,
    pub(crate) url: AppUrl,
    /// The API's address as pages show it.
    pub(crate) api_url: ApiUrl,
    /// The most connections for each worker.
    pub(crate) connections: usize,
    /// The app's settings.
    pub(crate) args: AppArgs,
}

/// Binds a listener to the address in a setting. Must be called on a Tokio runtime.
pub(crate) fn bind(setting: &str, value: &str) -> anyhow::Result<TcpListener> {
    let address = settings::address(setting, value)?;
    refract_http_serving::bind(address)
        .with_context(|| format!("{}: cannot listen on {address}", setting_name(setting)))
}

/// Binds a listener to the address in a setting, or to a free port if the address is taken.
pub(crate) fn bind_or_free(setting: &str, value: &str) -> anyhow::Result<TcpListener> {
    let wanted = settings::address(setting, value)?;
    let any_port = SocketAddr::new(wanted.ip(), 0);
    let listener = refract_http_serving::bind(wanted);
    listener
        .or_else(|_| refract_http_serving::bind(any_port))
        .with_context(|| format!("cannot listen on {wanted} or any other port there"))
}

/// Binds the app's listener; `None` when the app is off.
///
/// If the default address is taken, for example by a second node on the same machine, the node logs
/// a warning and serves without the app. An explicitly set address must be free.
pub(crate) fn bind_app(args: &AppArgs) -> anyhow::Result<Option<TcpListener>> {
    match args.app_listen.as_deref().filter(|set| !set.is_empty()) {
        Some("off") => Ok(None),
        Some(set) => bind(APP_LISTEN, set).map(Some),
        None => match bind(APP_LISTEN, DEFAULT_APP_LISTEN) {
            Ok(listener) => Ok(Some(listener)),
            Err(error) => {
                tracing::warn!(
                    "the app is not served: {error:#}; set REFRACT_APP_LISTEN to another address, or to off"
                );
                Ok(None)
            }
        },
    }
}

/// Binds the app's listener to its address, or to a free port if that is taken; `None` when the app
/// is off.
pub(crate) fn bind_app_or_free(args: &AppArgs) -> anyhow::Result<Option<TcpListener>> {
    match args.app_listen.as_deref().unwrap_or(DEFAULT_APP_LISTEN) {
        "off" => Ok(None),
        set => bind_or_free(APP_LISTEN, set).map(Some),
    }
}

impl AppListener {
    /// The listener with the app's address in a browser.
    pub(crate) fn of(
        listener: TcpListener,
        args: &AppArgs,
        api_url: ApiUrl,
        connections: usize,
    ) -> anyhow::Result<Self> {
        let address = settings::as_reached(listener.local_addr()?);
        Ok(Self {
            url: args.url_of(&address.to_string())?,
            listener,
            api_url,
            connections,
            args: args.clone(),
        })
    }

    /// The app's settings, given the API's. Both register their metrics in one registry.
    pub(crate) fn settings(
        self,
        http: &mut HttpSettings,
        gateway: &ModelGateway,
        workbooks: WorkbookBudget,
    ) -> AppSettings {
        AppSettings {
            listen: self.listener,
            connections: self.connections,
            url: self.url,
            api_url: self.api_url.to_string(),
            is_for_trying_only: gateway.is_for_trying_only(),
            upload_bytes: self.args.upload_bytes(),
            keep_uploads_days: self.args.upload_age().num_days(),
            grace: http.grace,
            budget: http.budget.clone(),
            workbooks,
            proxies: http.proxies.clone(),
            traces: http.traces.clone(),
            metrics: RequestMetrics::register(&mut http.registry, "refract_app", "the app"),
        }
    }
}

/// The process itself, its runtime and signals.
const PROCESS: usize = 16;
/// A thread that serves the API: 4 for itself, 2 for its dedicated connection to an SQLite file,
/// the rest to the model.
const API_WORKER: usize = 10;
/// The app's listener and its threads.
const APP: usize = 12;
/// The operator's listener and its thread.
const OPS: usize = 8;
/// The connections to an SQLite file that all threads share.
const SQLITE: usize = 14;
/// Files that are read and written occasionally.
const FILES: usize = 8;

/// Divides the file descriptors among the clients of a node with this many workers.
pub(crate) fn share_descriptors(
    workers: usize,
    has_app: bool,
    has_ops: bool,
    database: &DatabaseSettings,
) -> anyhow::Result<ConnectionShares> {
    let of_database = match &database.url {
        DatabaseUrl::Given(url) if url.starts_with("sqlite:") => SQLITE,
        DatabaseUrl::Given(_) | DatabaseUrl::InFile(_) => database.pool.max(SQLITE),
    };
    let of_app = if has_app { APP } else { 0 };
    let of_ops = if has_ops { OPS } else { 0 };
    let needs = DescriptorNeeds {
        api_workers: workers,
        app_workers: if has_app { APP_WORKERS.get() } else { 0 },
        others: (PROCESS + API_WORKER * workers + of_app + of_ops + FILES)
            .saturating_add(of_database),
    };
    // the setting that needs more of them
    let (cause, value) = if of_database > API_WORKER * workers {
        ("REFRACT_DATABASE_POOL", database.pool)
    } else {
        ("REFRACT_WORKERS", workers)
    };
    let shares = needs.share();
    shares.with_context(|| format!("too few descriptors for {cause}={value}"))
}
