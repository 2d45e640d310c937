//! Hostile clients: they send large forms and bodies without finishing them.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use refract_test_stack::service::PRISM;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};

const MIB: usize = 1024 * 1024;
/// The send buffer of a client's socket: a small one limits how far it sends ahead.
const SEND_BUFFER: u32 = 16 * 1024;

/// The repeated request of a hostile client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Stranger {
    /// A body of 1 MiB for the API, stalled before its last bytes.
    StalledBody,
    /// A form of 16 MiB for an action of the app.
    LargeForm,
    /// A form of 256 KiB, given back six times as large; the reply is not read.
    KeptForm,
    /// 128 KiB of small requests in one write, each with a database query.
    ManyRequests,
}

impl Stranger {
    /// Sends the request, waits until the node closes the connection, and starts again.
    pub(crate) async fn stay(self, api: SocketAddr, app: SocketAddr) {
        let address = match self {
            Self::StalledBody | Self::ManyRequests => api,
            Self::LargeForm | Self::KeptForm => app,
        };
        loop {
            // the node is expected to close the connection
            let _ = self.visit(address).await;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    /// A description of the request.
    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::StalledBody => "a body of 1 MiB that stands still before its end",
            Self::LargeForm => "a form of 16 MiB",
            Self::KeptForm => "a form of 256 KiB of quotes, whose page nobody reads",
            Self::ManyRequests => "a thousand requests in one write",
        }
    }

    async fn visit(self, address: SocketAddr) -> io::Result<()> {
        let socket = TcpSocket::new_v4()?;
        socket.set_send_buffer_size(SEND_BUFFER)?;
        let mut stream = socket.connect(address).await?;
        let form = "Sec-Fetch-Site: same-origin\r\nContent-Type: application/x-www-form-urlencoded";
        match self {
            Self::StalledBody => {
                let head = head(
                    &format!("/v1/prisms/{PRISM}/results"),
                    "Content-Type: application/json",
                    MIB,
                );
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(b"{\"text\":\"").await?;
                send(&mut stream, b'a', MIB - 20).await?;
                end_of(&mut stream).await
            }
            Self::LargeForm => {
                let head = head("/prisms/new", form, 16 * MIB);
                stream.write_all(head.as_bytes()).await?;
                send(&mut stream, b'"', 16 * MIB).await?;
                end_of(&mut stream).await
            }
            Self::KeptForm => {
                let head = head("/prisms/new", form, MIB / 4);
                stream.write_all(head.as_bytes()).await?;
                stream.write_all(b"pasted=").await?;
                send(&mut stream, b'"', MIB / 4 - 7).await?;
                // the client reads nothing
                tokio::time::sleep(Duration::from_secs(20)).await;
                Ok(())
            }
            Self::ManyRequests => {
                let request = "GET /v1/results/01234567-89ab-7def-8123-456789abcdef HTTP/1.1\r\n\
                    Host: t\r\nAuthorization: Bearer rk_abcdefghijklmnopqrstuvwxyz012345\r\n\r\n";
                let requests = request.repeat(MIB / 8 / request.len());
                stream.write_all(requests.as_bytes()).await?;
                tokio::time::sleep(Duration::from_secs(20)).await;
                Ok(())
            }
        }
    }
}

fn head(path: &str, headers: &str, length: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: t\r\n{headers}\r\nContent-Length: {length}\r\n\r\n")
}

/// Sends one byte repeatedly.
async fn send(stream: &mut TcpStream, byte: u8, mut bytes: usize) -> io::Result<()> {
    let piece = vec![byte; 16 * 1024];
    while bytes > 0 {
        let some = bytes.min(piece.len());
        stream.write_all(&piece[..some]).await?;
        bytes -= some;
    }
    Ok(())
}

/// Reads until the node closes the connection.
async fn end_of(stream: &mut TcpStream) -> io::Result<()> {
    let mut read = vec![0; 4096];
    while stream.read(&mut read).await? > 0 {}
    Ok(())
}
