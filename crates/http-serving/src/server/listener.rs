//! Binds a listening socket whose queue holds a burst of new connections.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpSocket;

/// Length of the queue of connections that wait to be accepted. The standard library's 128 overflow
/// in a burst, and a client whose connection was dropped retries only after a second.
const BACKLOG: u32 = 4096;
/// After this time of silence the system asks a client's machine whether it is still there. A machine
/// that has vanished closes nothing: without asking, its connection would be held for ever when it
/// vanished in the middle of a request's head.
const SILENCE: Duration = Duration::from_secs(75);
/// Bytes that the system keeps of what a client sends and nobody reads; it takes up to twice as many
/// for them. Without a limit it goes on to megabytes, which count as the container's memory.
const RECEIVED: u32 = 32 * 1024;
/// The time from one such question to the next. The system gives up after some that nobody answers,
/// usually nine.
const ASKED_EVERY: Duration = Duration::from_secs(15);

/// Binds a listener, whose connections inherit its options. Must be called on a Tokio runtime.
///
/// # Errors
/// When the address cannot be bound, for instance because another process listens there.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4(),
        SocketAddr::V6(_) => TcpSocket::new_v6(),
    }?;
    // a restart need not wait until connections of the old process have left TIME_WAIT
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
