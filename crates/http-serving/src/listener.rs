//! Binds a listening socket whose queue holds a burst of new connections.

use std::io;
use std::net::{SocketAddr, TcpListener};

use tokio::net::TcpSocket;

/// Length of the queue of connections that wait to be accepted. The standard library's 128 overflow
/// in a burst, and a client whose connection was dropped retries only after a second.
const BACKLOG: u32 = 4096;

/// Binds a listener. Must be called on a Tokio runtime.
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
    async fn a_taken_address_is_refused() {
        let listener = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        assert!(bind(listener.local_addr().unwrap()).is_err());
    }
}
