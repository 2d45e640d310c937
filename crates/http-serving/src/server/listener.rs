//! Binds a listening socket with a queue long enough for a burst of new connections.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpSocket;

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

#[cfg(test)]
mod tests {
    use std::net::TcpStream;

    use super::*;

    #[tokio::test]
    async fn a_bound_listener_takes_connections() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = bind(address.parse().unwrap()) else {
                assert!(address.starts_with('['), "IPv4 is always available");
                continue;
            };
            assert!(TcpStream::connect(listener.local_addr().unwrap()).is_ok());
        }
    }

    #[tokio::test]
    async fn a_client_that_has_vanished_is_asked_for() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        listener.set_nonblocking(false).unwrap();
        let _client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (connection, _) = listener.accept().unwrap();
        assert!(SockRef::from(&connection).keepalive().unwrap());
    }

    #[tokio::test]
    async fn a_taken_address_is_refused() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        assert!(bind(listener.local_addr().unwrap()).is_err());
    }
}
