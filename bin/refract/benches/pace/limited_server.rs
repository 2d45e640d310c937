//! A model server that takes a limited number of requests a second, answers each after a while, and
//! refuses the others at once.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// The body of every answer.
const ANSWER: &str = r#"{"model":"limited-1","answers":{"angry":{"type":"noul","noul":0.12}},"usage":{"input_tokens":100,"output_tokens":1}}"#;
const REFUSAL: &str = r#"{"detail":{"error_type":"rate_limit_error","message":"Slow down."}}"#;

/// The limit in requests a second, over the time since the first request.
pub(crate) type Limit = fn(Duration) -> f64;

/// The state of a server.
pub(crate) struct LimitedServer {
    limit: Limit,
    burst: f64,
    answers_after: Duration,
    taken: Mutex<Taken>,
    /// When each answered request came, since the first one.
    answered_at: Mutex<Vec<Duration>>,
}

/// What a server has taken so far.
#[derive(Clone, Copy, Default)]
pub(crate) struct Taken {
    /// When the first request came.
    began: Option<Instant>,
    /// Time up to which the limit was added, since the first request.
    at: Duration,
    left: f64,
    /// Requests that the limit allowed so far, a burst included.
    pub(crate) allowed: f64,
    pub(crate) answered: u32,
    pub(crate) refused: u32,
}

impl LimitedServer {
    /// Starts a server on a thread of its own, and returns it with its base address.
    pub(crate) fn start(limit: Limit, burst: f64, answers_after: Duration) -> (Arc<Self>, String) {
        let server = Arc::new(Self {
            limit,
            burst,
            answers_after,
            taken: Mutex::new(Taken {
                left: burst,
                allowed: burst,
                ..Taken::default()
            }),
            answered_at: Mutex::default(),
        });
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let serving = Arc::clone(&server);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            runtime.block_on(async move {
                let listener = TcpListener::from_std(listener).unwrap();
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    tokio::spawn(Arc::clone(&serving).serve(stream));
                }
            });
        });
        (server, format!("http://{address}/v1"))
    }

    /// What the server has taken until now.
    pub(crate) fn taken(&self) -> Taken {
        let mut taken = self.taken.lock().unwrap();
        self.pass(&mut taken);
        *taken
    }

    /// When each request came that was answered, since the first one.
    pub(crate) fn answered_at(&self) -> Vec<Duration> {
        self.answered_at.lock().unwrap().clone()
    }

    fn takes(&self) -> bool {
        let mut taken = self.taken.lock().unwrap();
        taken.began.get_or_insert_with(Instant::now);
        self.pass(&mut taken);
        if taken.left < 1.0 {
            taken.refused += 1;
            return false;
        }
        taken.left -= 1.0;
        taken.answered += 1;
        self.answered_at.lock().unwrap().push(taken.at);
        true
    }

    /// Adds what the limit allowed since it was added last.
    fn pass(&self, taken: &mut Taken) {
        let Some(began) = taken.began else {
            return;
        };
        let now = began.elapsed();
        let added = (self.limit)(taken.at) * now.saturating_sub(taken.at).as_secs_f64();
        taken.left = (taken.left + added).min(self.burst);
        taken.allowed += added;
        taken.at = now;
    }

    async fn serve(self: Arc<Self>, mut stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        let mut received = Vec::new();
        while take_request(&mut stream, &mut received).await.is_some() {
            let reply = if self.takes() {
                tokio::time::sleep(self.answers_after).await;
                reply("200 OK", "", ANSWER)
            } else {
                let refused = self.taken.lock().unwrap().refused;
                // one of three refusals does not say how long to wait
                let header = if refused.is_multiple_of(3) {
                    ""
                } else {
                    "retry-after: 0.1\r\n"
                };
                reply("429 Too Many Requests", header, REFUSAL)
            };
            if stream.write_all(reply.as_bytes()).await.is_err() {
                return;
            }
        }
    }
}

fn reply(status: &str, header: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{header}content-length: {length}\r\n\r\n{body}"
    )
}

/// Reads one request to its end; `None` if the connection has ended.
async fn take_request(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<()> {
    loop {
        if let Some(end) = request_end(received) {
            received.drain(..end);
            return Some(());
        }
        if stream.read_buf(received).await.ok()? == 0 {
            return None;
        }
    }
}

/// Where the first request ends, if it is complete.
fn request_end(received: &[u8]) -> Option<usize> {
    let text = std::str::from_utf8(received).ok()?;
    let head = text.find("\r\n\r\n")? + 4;
    let lines = text[..head].lines();
    let mut lengths = lines.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length")
            .then(|| value.trim().parse().ok())?
    });
    let length: usize = lengths.next().unwrap_or(0);
    (received.len() >= head + length).then_some(head + length)
}
