//! The HTTP server of a listener: actix-web over gated streams.

use std::convert::Infallible;
use std::future::ready;
use std::io;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use actix_http::{HttpService, Protocol};
use actix_server::Server;
use actix_service::{ServiceFactoryExt as _, fn_service, map_config};
use actix_web::dev::AppConfig;
use actix_web::{App, HttpRequest, HttpResponse, web};
use futures_util::future::LocalBoxFuture;
use tokio::net::TcpStream;

use crate::body::BodyBudget;
use crate::gate::gated_stream::GatedStream;
use crate::server::of_each;

/// How long an idle connection is kept open: longer than the usual 60 s of load balancers, so that
/// none sends a call into a connection that is being closed.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long the head of a connection's first request may take to arrive.
const HEAD: Duration = Duration::from_secs(10);
/// Seconds for sending the last replies once all requests have ended.
const FLUSH_SECONDS: u64 = 5;

/// A listener, and the limits under which it is served.
pub struct Serving {
    /// The bound listener: see [`bind`](crate::bind).
    pub listener: TcpListener,
    /// The number of threads that serve it.
    pub workers: NonZeroUsize,
    /// The most connections of each thread, by the process's descriptor limit.
    pub connections: usize,
    /// The most connections of all threads for each MiB of the budget, because each uses memory.
    pub connections_for_each_mib: usize,
    /// How long the rest of an unread body is received and dropped after the reply, so that the
    /// client gets to read the reply before the connection closes.
    pub linger: Duration,
    /// The memory budget for bodies and forms in this process.
    pub budget: BodyBudget,
}

/// Answers all requests of a thread.
pub type Handler = Rc<dyn Fn(HttpRequest, web::Payload) -> LocalBoxFuture<'static, HttpResponse>>;

/// The server of a listener. `make_handler` is called once on every worker thread.
///
/// Nothing here is generic, so that the server is compiled once for all listeners, in this crate.
///
/// # Errors
/// When the listener cannot be served.
pub fn http_server(
    serving: Serving,
    make_handler: Arc<dyn Fn() -> Handler + Send + Sync>,
) -> io::Result<Server> {
    let Serving {
        listener,
        workers,
        connections,
        connections_for_each_mib,
        linger,
        budget,
    } = serving;
    let most = budget.mib().saturating_mul(connections_for_each_mib);
    let connections = connections.min(of_each(most, workers.get()));
    let address = listener.local_addr()?;
    let server = Server::build()
        .workers(workers.get())
        .max_concurrent_connections(connections)
        .shutdown_timeout(FLUSH_SECONDS)
        .disable_signals();
    let stops = server.graceful_shutdown_signal();
    let server = server.listen("http", listener, move || {
        let stops = stops.clone();
        let budget = budget.clone();
        let answer = make_handler();
        let handler = move |request, payload| answer(request, payload);
        let app = App::new().default_service(web::to(handler));
        let http = HttpService::build()
            .keep_alive(KEEP_ALIVE)
            .client_request_timeout(HEAD)
            .client_disconnect_timeout(linger)
            .local_addr(address)
            .graceful_shutdown_signal(move || {
                let stops = stops.clone();
                async move { stops.notified().await }
            })
            .on_connect_ext(|stream: &GatedStream, data| {
                data.insert(stream.gate().clone());
            })
            .finish(map_config(app, |()| AppConfig::default()));
        fn_service(move |stream: TcpStream| {
            let peer = stream.peer_addr().ok();
            // without it, replies wait for acknowledgements of earlier ones; if it fails, the
            // connection is closed already
            let _ = stream.set_nodelay(true);
            let stream = GatedStream::new(stream, budget.clone());
            ready(Ok::<_, Infallible>((stream, Protocol::Http1, peer)))
        })
        .map_err(|never| match never {})
        .and_then(http)
    })?;
    Ok(server.run())
}

#[cfg(test)]
mod tests;
