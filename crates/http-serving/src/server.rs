//! A server, from its bound socket to its end.

pub(crate) mod descriptors;
pub(crate) mod http_server;

use std::future::Future;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use actix_server::Server;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpSocket;

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
    shutdown: impl Future<Output = ()>,
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

#[cfg(test)]
mod tests;
