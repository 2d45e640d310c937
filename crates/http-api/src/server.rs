//! Puts the server together, and stops it in the right order.

use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::{App, HttpServer, web};
use prometheus_client::registry::Registry;
use refract_answering::Answering;

use crate::lifecycle::{Drained, Lifecycle};
use crate::metrics::HttpMetrics;
use crate::ops::Ops;
use crate::worker::Worker;

/// How long an idle connection is kept: longer than load balancers in front keep theirs (60 s), so
/// that none of them sends a call into a connection that is being closed.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long the head of a connection's first request may take.
const HEAD: Duration = Duration::from_secs(10);
/// How long the rest of a body is thrown away after an answer that did not need it, so that its
/// sender gets to read that answer.
const LINGER: Duration = Duration::from_secs(2);
/// Seconds in which answers must have left the sockets once all calls have ended.
const LAST_WORDS_SECONDS: u64 = 5;

/// Where and how the API is served.
pub struct HttpSettings {
    /// The API's listener, bound: see [`bind`](crate::bind).
    pub listen: TcpListener,
    /// The operator's listener; `None` for no operations endpoints.
    pub ops: Option<TcpListener>,
    /// Threads that serve the API.
    pub workers: NonZeroUsize,
    /// How long calls in flight may finish after the shutdown signal.
    pub grace: Duration,
    /// What `/metrics` shows beside the API's own metrics.
    pub registry: Registry,
}

/// Serves the API until `shutdown` resolves, then lets the calls in flight finish.
///
/// `make_answering` is called once on every worker thread. Calls that arrive while others finish
/// are answered 503.
///
/// # Errors
/// When a listener cannot be served.
pub async fn serve<F>(
    settings: HttpSettings,
    make_answering: F,
    shutdown: impl Future<Output = ()>,
) -> io::Result<Drained>
where
    F: Fn() -> Answering + Send + Clone + 'static,
{
    let HttpSettings {
        listen,
        ops,
        workers,
        grace,
        mut registry,
    } = settings;
    let lifecycle = Lifecycle::default();
    let metrics = HttpMetrics::register(&mut registry, lifecycle.clone());

    let ops = match ops {
        Some(listener) => {
            let registry = Arc::new(registry);
            Some(ops_server(
                listener,
                make_answering.clone(),
                lifecycle.clone(),
                registry,
            )?)
        }
        None => None,
    };
    let api = api_server(listen, workers, make_answering, lifecycle.clone(), metrics)?;

    let (api_handle, ops_handle) = (api.handle(), ops.as_ref().map(Server::handle));
    let ops_task = ops.map(tokio::spawn);
    let mut api_task = tokio::spawn(api);
    tokio::select! {
        () = shutdown => {}
        ended = &mut api_task => {
            ended??;
            return Err(io::Error::other("the HTTP server ended by itself"));
        }
    }

    let drained = lifecycle.drain(grace).await;
    // `stop` ends detached calls with their worker: nothing is left for it to end but answers on
    // their way out, or what the grace time did not suffice for
    api_handle.stop(drained == Drained::Clean).await;
    api_task.await??;
    if let (Some(handle), Some(task)) = (ops_handle, ops_task) {
        handle.stop(false).await;
        task.await??;
    }
    Ok(drained)
}

fn api_server<F>(
    listener: TcpListener,
    workers: NonZeroUsize,
    make_answering: F,
    lifecycle: Lifecycle,
    metrics: HttpMetrics,
) -> io::Result<Server>
where
    F: Fn() -> Answering + Send + Clone + 'static,
{
    let server = HttpServer::new(move || {
        let worker = Worker {
            answering: make_answering(),
            lifecycle: lifecycle.clone(),
            metrics: metrics.clone(),
        };
        App::new().default_service(web::to(move |request, payload| {
            worker.clone().answer(request, payload)
        }))
    });
    let server = server
        .workers(workers.get())
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD)
        .client_disconnect_timeout(LINGER)
        .tcp_nodelay(true)
        .shutdown_timeout(LAST_WORDS_SECONDS)
        .disable_signals()
        .listen(listener)?;
    Ok(server.run())
}

fn ops_server<F>(
    listener: TcpListener,
    make_answering: F,
    lifecycle: Lifecycle,
    registry: Arc<Registry>,
) -> io::Result<Server>
where
    F: Fn() -> Answering + Send + Clone + 'static,
{
    let server = HttpServer::new(move || {
        let ops = Ops {
            answering: make_answering(),
            lifecycle: lifecycle.clone(),
            registry: Arc::clone(&registry),
        };
        App::new().configure(|app| ops.configure(app))
    });
    Ok(server.workers(1).disable_signals().listen(listener)?.run())
}
