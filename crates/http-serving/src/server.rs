//! A server, from its bound socket to its end.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::io;
use std::net::{SocketAddr, TcpListener};
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
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpSocket, TcpStream};

use crate::body::BodyBudget;
use crate::gate::gated_stream::GatedStream;
use crate::lifecycle::{Drained, Lifecycle};

/// Length of the accept queue. The standard library's 128 overflow in a burst, and a client whose
/// connection was dropped retries only after a second.
const BACKLOG: u32 = 4096;
/// Idle time before the first TCP keepalive probe. A machine that vanished does not close its
/// connections: without probes, one that vanished in the middle of a request's head would keep its
/// connection open for ever.
const SILENCE: Duration = Duration::from_secs(75);
/// Size of the receive buffer in bytes; the system uses up to twice as much. Without a limit it
/// grows to megabytes, which count as the container's memory.
const RECEIVED: u32 = 32 * 1024;
/// Time between keepalive probes. The system gives up after several without an answer, usually
/// nine.
const ASKED_EVERY: Duration = Duration::from_secs(15);
/// The most connections of one worker, even if there are more descriptors.
const MOST: usize = 25_600;
/// The fewest connections of one worker with which a node may start.
const FEWEST: usize = 4;

/// Binds a listener; its connections inherit its options. Must be called on a Tokio runtime.
///
/// # Errors
/// When the address cannot be bound, for instance because another process listens there.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // allows a restart while connections of the old process are in TIME_WAIT
    socket.set_reuseaddr(true)?;
    let keepalive = TcpKeepalive::new()
        .with_time(SILENCE)
        .with_interval(ASKED_EVERY);
    SockRef::from(&socket).set_tcp_keepalive(&keepalive)?;
    socket.set_recv_buffer_size(RECEIVED)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)?.into_std()
}

/// Runs a server until `shutdown` resolves, then lets the calls in flight finish within the grace
/// period.
///
/// # Errors
/// When the server fails, or ends before `shutdown`.
pub fn serve_until(
    server: Server,
    lifecycle: &Lifecycle,
    grace: Duration,
    shutdown: LocalBoxFuture<'_, ()>,
) -> impl Future<Output = io::Result<Drained>> {
    // boxed, because callers nest it several levels deep
    Box::pin(async move {
        let handle = server.handle();
        let mut task = tokio::spawn(server);
        tokio::select! {
            () = shutdown => {}
            ended = &mut task => {
                ended??;
                let message = format!("the {} server ended by itself", lifecycle.server());
                return Err(io::Error::other(message));
            }
        }
        let drained = lifecycle.drain(grace).await;
        // `stop` kills detached calls together with their worker, so draining comes first: after
        // it, only responses being sent and calls that outlasted the grace period remain
        handle.stop(drained == Drained::Clean).await;
        task.await??;
        Ok(drained)
    })
}

/// The descriptor needs of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DescriptorNeeds {
    /// Threads that serve the API, at least 1.
    pub api_workers: usize,
    /// Threads that serve the app; 0 without an app.
    pub app_workers: usize,
    /// Descriptors that are not client connections: the database, the model, files, the runtime
    /// itself.
    pub others: usize,
}

/// The most connections of each worker, by server. Further ones wait in the listener's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionShares {
    /// Connections of each API worker.
    pub api: usize,
    /// Connections of each app worker.
    pub app: usize,
}

/// The process's limit of file descriptors is too low.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{limit} open files and connections are allowed, and at least {needed} are needed: raise the limit \
     (`ulimit -n {needed}`)"
)]
pub struct TooFewDescriptors {
    /// The process's limit.
    pub limit: usize,
    /// The least number needed.
    pub needed: usize,
}

impl DescriptorNeeds {
    /// Raises the process's descriptor limit as far as the system allows, and divides it: at most
    /// half for the API's connections, a quarter for the app's, and never those for the database,
    /// the model and files. Otherwise idle connections could make other clients' calls fail.
    ///
    /// # Errors
    /// [`TooFewDescriptors`] when the limit is too low.
    pub fn share(&self) -> Result<ConnectionShares, TooFewDescriptors> {
        self.shares_of(descriptors())
    }

    fn shares_of(&self, limit: usize) -> Result<ConnectionShares, TooFewDescriptors> {
        let Self {
            api_workers,
            app_workers,
            others,
        } = *self;
        let needed = others.saturating_add(FEWEST * (api_workers + app_workers));
        if limit < needed {
            return Err(TooFewDescriptors { limit, needed });
        }
        let clients = limit - others;
        let share_of_app = if app_workers == 0 {
            0
        } else {
            (limit / 4).min(clients / 3)
        };
        let rest = (limit / 2).min(clients - share_of_app);
        Ok(ConnectionShares {
            api: of_each(rest, api_workers),
            app: of_each(share_of_app, app_workers),
        })
    }
}

/// The share of each worker.
fn of_each(connections: usize, workers: usize) -> usize {
    (connections / workers.max(1)).clamp(1, MOST)
}

fn descriptors() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let highest = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // if the system refuses, the lower limit applies
    let current = match setrlimit(Resource::Nofile, highest) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    };
    current
        .and_then(|number| usize::try_from(number).ok())
        .unwrap_or(usize::MAX)
}

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
