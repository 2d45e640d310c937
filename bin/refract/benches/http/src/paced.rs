//! Load at a constant rate: each call is due at a fixed moment, whether or not earlier calls were
//! answered, and its latency counts from that moment.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

/// A repeated request, as the bytes to send.
pub struct PacedCall {
    address: SocketAddr,
    request: String,
}

impl PacedCall {
    /// A call to a server. `head` has further header lines, each with its line end.
    pub fn new(address: SocketAddr, method: &str, path: &str, head: &str, body: &str) -> Self {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\n{head}\
             content-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        Self { address, request }
    }

    /// Sends the call `rate` times per second for `time`, over `connections` connections in turns,
    /// and returns the latencies in milliseconds, smallest first.
    pub fn load(&self, rate: u32, connections: u32, time: Duration) -> anyhow::Result<Vec<f64>> {
        let calls = u32::try_from(time.as_millis() * u128::from(rate) / 1000)?;
        // the connections are open before the first call is due
        let streams: Result<Vec<_>, _> = (0..connections).map(|_| self.connect()).collect();
        let begin = Instant::now() + Duration::from_millis(20);
        let latencies = std::thread::scope(|scope| {
            let each = streams?
                .into_iter()
                .zip(0..)
                .map(|(mut stream, connection)| {
                    scope.spawn(move || -> anyhow::Result<Vec<f64>> {
                        let turns = (connection..calls).step_by(usize::try_from(connections)?);
                        turns
                            .map(|turn| {
                                let due = begin + Duration::from_secs(1) * turn / rate;
                                std::thread::sleep(due.saturating_duration_since(Instant::now()));
                                self.make(&mut stream)?;
                                Ok(due.elapsed().as_secs_f64() * 1000.0)
                            })
                            .collect()
                    })
                });
            let threads: Vec<_> = each.collect();
            let ended = threads
                .into_iter()
                .map(|thread| thread.join().expect("a load thread"));
            ended.collect::<anyhow::Result<Vec<_>>>()
        })?;
        let mut latencies = latencies.concat();
        latencies.sort_by(f64::total_cmp);
        Ok(latencies)
    }

    /// Sends the call once.
    pub fn make(&self, stream: &mut TcpStream) -> anyhow::Result<()> {
        stream.write_all(self.request.as_bytes())?;
        read_answer(stream)
    }

    /// Opens a connection for the call.
    pub fn connect(&self) -> anyhow::Result<TcpStream> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        Ok(stream)
    }
}

/// Reads one reply with a declared length to its end.
fn read_answer(stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut answer = Vec::new();
    let mut piece = [0; 16 * 1024];
    loop {
        let read = stream.read(&mut piece)?;
        ensure!(read > 0, "a server closed a connection");
        answer.extend_from_slice(&piece[..read]);
        if let Some(end) = answer.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = std::str::from_utf8(&answer[..end])?.to_ascii_lowercase();
            ensure!(head.starts_with("http/1.1 200"), "a call failed: {head}");
            let length = head
                .split("\r\n")
                .find_map(|line| line.strip_prefix("content-length:"))
                .context("an answer without a length")?;
            let all = end + 4 + length.trim().parse::<usize>()?;
            if answer.len() >= all {
                return Ok(());
            }
        }
    }
}

/// A quantile of sorted values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() as f64 * share).ceil() as usize;
    sorted[place.clamp(1, sorted.len()) - 1]
}
