//! A model server for load tests and memory measurements. Every request gets the same answer, and
//! the server neither allocates nor stores anything for a request.

use std::cell::RefCell;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener as StdTcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime;
use tokio::sync::watch;

/// A model server with one fixed answer, sent after a delay.
#[derive(Clone, Debug)]
pub struct TestServer {
    /// The body of every answer, as JSON.
    pub answer: Value,
    /// Time from the last byte of a request to the first byte of the answer.
    pub delay: Duration,
    /// Number of requests that must have arrived before one is answered, except the first ones.
    pub gathers: usize,
    /// Number of first requests that are answered without gathering.
    pub ungathered: usize,
}

impl TestServer {
    /// A server that sends this answer without delay.
    pub fn answering(answer: Value) -> Self {
        Self {
            answer,
            delay: Duration::ZERO,
            gathers: 0,
            ungathered: 0,
        }
    }

    /// Starts the server on a free port of the loopback interface. Its thread ends with the
    /// process.
    ///
    /// # Errors
    /// When no port is free.
    pub fn start(self) -> io::Result<SocketAddr> {
        let listener = StdTcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = listener.local_addr()?;
        thread::spawn(move || self.serve(listener));
        Ok(address)
    }

    /// Serves on the calling thread. Only an error makes it return.
    ///
    /// # Errors
    /// When the listener cannot be used.
    pub fn serve(self, listener: StdTcpListener) -> io::Result<()> {
        listener.set_nonblocking(true)?;
        let runtime = runtime::Builder::new_current_thread()
            .enable_all()
            .build()?;
        runtime.block_on(async move {
            let listener = TcpListener::from_std(listener)?;
            let body = self.answer.to_string();
            let length = body.len();
            let answer = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
            );
            let shared = Arc::new(PreparedAnswer {
                answer: answer.into_bytes(),
                delay: self.delay,
                gathers: self.gathers,
                ungathered: self.ungathered,
                requests: watch::Sender::new(0),
            });
            loop {
                let (stream, _) = listener.accept().await?;
                stream.set_nodelay(true)?;
                tokio::spawn(converse(stream, Arc::clone(&shared)));
            }
        })
    }
}

/// The prepared answer, and the count of requests, for all connections.
struct PreparedAnswer {
    answer: Vec<u8>,
    delay: Duration,
    gathers: usize,
    ungathered: usize,
    requests: watch::Sender<usize>,
}

thread_local! {
    /// The buffer for requests; each one overwrites it.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; 64 * 1024]);
}

/// Answers the requests of one connection until the client closes it.
async fn converse(mut stream: TcpStream, shared: Arc<PreparedAnswer>) -> Option<()> {
    let mut reader = RequestProgress::Head(Vec::new());
    loop {
        stream.readable().await.ok()?;
        let read = BUFFER.with_borrow_mut(|buffer| {
            let bytes = stream.try_read(buffer)?;
            let read = buffer.get(..bytes).unwrap_or_default();
            Ok::<_, io::Error>((bytes, reader.takes(read)))
        });
        match read {
            Ok((0, _)) => return None,
            Ok((_, false)) => {}
            Ok((_, true)) => {
                shared.requests.send_modify(|count| *count += 1);
                let mut requests = shared.requests.subscribe();
                let enough = if *requests.borrow() <= shared.ungathered {
                    0
                } else {
                    shared.gathers
                };
                requests.wait_for(|count| *count >= enough).await.ok()?;
                if !shared.delay.is_zero() {
                    tokio::time::sleep(shared.delay).await;
                }
                stream.write_all(&shared.answer).await.ok()?;
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => return None,
        }
    }
}

/// The progress of reading a request. Clients must not pipeline: they send the next request after
/// the answer.
enum RequestProgress {
    /// The head is being read; these bytes have arrived.
    Head(Vec<u8>),
    /// The body is being read; this number of bytes is missing.
    Body(usize),
}

impl RequestProgress {
    /// Reads the next bytes. Returns whether the request ends with them.
    fn takes(&mut self, bytes: &[u8]) -> bool {
        let left = match self {
            Self::Body(left) => left.saturating_sub(bytes.len()),
            Self::Head(head) => {
                head.extend_from_slice(bytes);
                let Some(end) = head.windows(4).position(|bytes| bytes == b"\r\n\r\n") else {
                    return false;
                };
                let body = head.len() - (end + 4);
                length(head).saturating_sub(body)
            }
        };
        *self = match left {
            0 => Self::Head(Vec::new()),
            left => Self::Body(left),
        };
        left == 0
    }
}

/// The length of the body according to the head.
fn length(head: &[u8]) -> usize {
    let head = String::from_utf8_lossy(head);
    let lines = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = lengths
        .next()
        .and_then(|(_, value)| value.trim().parse().ok());
    length.unwrap_or(0)
}
