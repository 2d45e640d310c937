//! Serves the app on its own listener until shutdown.

use std::cell::Cell;
use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use refract_file_runs::WorkbookBudget;
use refract_http_serving::{
    BodyBudget, BodyReader, Drained, Handler, Lifecycle, RequestMetrics, RequestRecorder, Serving,
    TrustedProxies, http_server, serve_until,
};
use refract_identity::people::AppUrl;
use refract_service::Refract;
use refract_traces::Traces;

use crate::app_site::{AppSite, KeptPages};
use crate::assets::AssetFolder;
use crate::routing::Dispatcher;

/// Threads that serve the app. Two are enough for a team: one can render a page while the other
/// waits.
pub const APP_WORKERS: NonZeroUsize = NonZeroUsize::MIN.saturating_add(1);
/// Connections of the app per MiB of the budget: a quarter of the process's connections.
const CONNECTIONS_FOR_EACH_MIB: usize = 16;
/// How long the rest of an unread form is received and dropped after the error page: browsers show
/// a page only once the form is sent.
const LINGER: Duration = Duration::from_secs(10);

/// Where and how the app is served.
pub struct AppSettings {
    /// The bound listener.
    pub listen: TcpListener,
    /// The most connections for each of the [`APP_WORKERS`].
    pub connections: usize,
    /// The app's address in a browser.
    pub url: AppUrl,
    /// The API's address up to and including `/v1`, as pages show it to callers.
    pub api_url: String,
    /// Whether the built-in scorer answers instead of a model; every page then shows a notice.
    pub is_for_trying_only: bool,
    /// The largest file that a run takes, in bytes.
    pub upload_bytes: u64,
    /// Days after which an uploaded file is deleted.
    pub keep_uploads_days: i64,
    /// How long requests in flight may take to finish after the shutdown signal.
    pub grace: Duration,
    /// The memory budget of this process for forms and for pages made from them.
    pub budget: BodyBudget,
    /// The memory in which this process reads workbooks.
    pub workbooks: WorkbookBudget,
    /// The proxies whose forwarded headers are trusted to name the client.
    pub proxies: TrustedProxies,
    /// Traces of requests, off or on.
    pub traces: Traces,
    /// The metrics of the app's requests.
    pub metrics: RequestMetrics,
}

/// Serves the app until `shutdown` resolves, then lets the requests in flight finish. New requests
/// meanwhile get a page that explains this and keeps the submitted form. The future is boxed, so that
/// it is compiled in this crate.
///
/// # Errors
/// When the listener cannot be served, or the server ends before `shutdown`.
pub fn serve(
    settings: AppSettings,
    refract: Refract,
    shutdown: LocalBoxFuture<'_, ()>,
) -> LocalBoxFuture<'_, io::Result<Drained>> {
    let AppSettings {
        listen,
        connections,
        url,
        api_url,
        is_for_trying_only,
        upload_bytes,
        keep_uploads_days,
        grace,
        budget,
        workbooks,
        proxies,
        traces,
        metrics,
    } = settings;
    let lifecycle = Lifecycle::named("app");
    let kept_pages = KeptPages::default();
    let for_workers = lifecycle.clone();
    let bodies = BodyReader {
        budget: budget.clone(),
        lifecycle: lifecycle.clone(),
    };
    let serving = Serving {
        listener: listen,
        workers: APP_WORKERS,
        connections,
        connections_for_each_mib: CONNECTIONS_FOR_EACH_MIB,
        linger: LINGER,
        budget,
    };
    let make_handler = move || -> Handler {
        let dispatch = Dispatcher {
            // the app shares the API's database connections, so it uses none while only the API is
            // called
            refract: refract.for_this_thread(None),
            bodies: bodies.clone(),
            lifecycle: for_workers.clone(),
            recorder: Rc::new(RequestRecorder {
                metrics: metrics.clone(),
                lifecycle: for_workers.clone(),
                proxies: proxies.clone(),
                traces: traces.clone(),
            }),
            site: Rc::new(AppSite {
                url: url.clone(),
                api_url: api_url.clone(),
                is_for_trying_only,
                upload_bytes,
                keep_uploads_days,
                workbooks: workbooks.clone(),
                kept_pages: kept_pages.clone(),
                proxies: proxies.clone(),
                has_warned_of_proxy: Cell::new(false),
                assets: AssetFolder::embedded(),
            }),
        };
        Rc::new(move |request, payload| Box::pin(dispatch.clone().answer(request, payload)))
    };
    Box::pin(async move {
        let server = http_server(serving, Arc::new(make_handler))?;
        serve_until(server, &lifecycle, grace, shutdown).await
    })
}
