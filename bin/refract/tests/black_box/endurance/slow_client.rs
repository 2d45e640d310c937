//! Clients that send slowly or not at all, and reconnect whenever the node closes the connection.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// The interval between two bytes.
const TRICKLE: Duration = Duration::from_secs(3);

/// The behaviour of a slow client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slowness {
    /// Sends nothing.
    Silent,
    /// Sends a head byte by byte.
    Head,
    /// Sends a whole head, then the body byte by byte.
    Body,
    /// Makes a call, reads its answer, and then sends nothing.
    Idle,
    /// Makes a call, reads its answer, then sends a second head byte by byte.
    SecondHead,
}

/// All kinds of slowness.
pub(crate) const ALL: [Slowness; 5] = [
    Slowness::Silent,
    Slowness::Head,
    Slowness::Body,
    Slowness::Idle,
    Slowness::SecondHead,
];

/// A head without its end, and a request that is answered 401 without a database query.
const HALF_HEAD: &str =
    "GET /v1/results/01234567-89ab-7def-8123-456789abcdef HTTP/1.1\r\nHost: t\r\n";

impl Slowness {
    /// The bytes sent at once, and those sent one by one afterwards.
    fn bytes(self) -> (String, &'static str) {
        let body_head = "POST /v1/prisms/support-triage/results HTTP/1.1\r\nHost: t\r\n\
            Content-Type: application/json\r\nContent-Length: 10000\r\n\r\n";
        match self {
            Self::Silent => (String::new(), ""),
            Self::Head => (String::new(), HALF_HEAD),
            Self::Body => (
                body_head.to_owned(),
                r#"{"text": "aaaaaaaaaaaaaaaaaaaaaaaaa"#,
            ),
            Self::Idle => (format!("{HALF_HEAD}\r\n"), ""),
            Self::SecondHead => (format!("{HALF_HEAD}\r\n"), HALF_HEAD),
        }
    }

    /// Stays slow forever. Counts how often the node closed the connection.
    pub(crate) async fn stay(self, api: SocketAddr, closed: Arc<AtomicUsize>) {
        loop {
            if let Ok(stream) = TcpStream::connect(api).await {
                self.until_closed(stream).await;
                closed.fetch_add(1, Ordering::Relaxed);
            } else {
                tokio::time::sleep(TRICKLE).await;
            }
        }
    }

    async fn until_closed(self, mut stream: TcpStream) {
        let (at_once, trickled) = self.bytes();
        if stream.write_all(at_once.as_bytes()).await.is_err() {
            return;
        }
        let mut trickled = trickled.bytes();
        let mut answer = [0; 1024];
        loop {
            match tokio::time::timeout(TRICKLE, stream.read(&mut answer)).await {
                Ok(Ok(0) | Err(_)) => return,
                Ok(Ok(_)) => {}
                Err(_) => {
                    let Some(byte) = trickled.next() else {
                        continue;
                    };
                    if stream.write_all(&[byte]).await.is_err() {
                        return;
                    }
                }
            }
        }
    }
}
