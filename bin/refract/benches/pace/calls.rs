//! Calls of the API, five a second.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// Interval at which calls begin.
const INTERVAL: Duration = Duration::from_millis(200);

/// A running node and the key for its calls. Dropping it stops the node.
pub(crate) struct ApiCalls {
    node: Child,
    api: SocketAddr,
    key: String,
}

impl ApiCalls {
    /// Starts the node.
    pub(crate) fn start(mut serve: Command, key: &Value) -> Self {
        let serve = serve
            .env("REFRACT_LOG_FORMAT", "json")
            .stderr(Stdio::piped());
        let mut node = serve.spawn().unwrap();
        let mut log = BufReader::new(node.stderr.take().unwrap()).lines();
        let listens = log.by_ref().find_map(|line| {
            let line = line.unwrap();
            let begin = line.find("127.0.0.1:")?;
            let address: String = line[begin..]
                .chars()
                .take_while(|char| char.is_ascii_digit() || ".:".contains(*char))
                .collect();
            address.trim_end_matches([':', '.']).parse().ok()
        });
        std::thread::spawn(move || log.for_each(drop));
        Self {
            node,
            api: listens.unwrap(),
            key: key["key"].as_str().unwrap().to_owned(),
        }
    }

    /// Calls as long as `goes_on`, which gets the time of the beginning. Returns the 95th percentile
    /// of the calls' times, and how many calls failed.
    pub(crate) fn p95_while(&self, mut goes_on: impl FnMut(Instant) -> bool) -> (Duration, u32) {
        let began = Instant::now();
        let mut times = Vec::new();
        let mut failures = 0;
        while goes_on(began) {
            let call = Instant::now();
            failures += u32::from(!self.call(times.len()));
            times.push(call.elapsed());
            std::thread::sleep(INTERVAL.saturating_sub(call.elapsed()));
        }
        times.sort_unstable();
        (times[times.len() * 95 / 100], failures)
    }

    /// Whether the model answered a call.
    fn call(&self, number: usize) -> bool {
        let body = format!(r#"{{"text":"Is this call {number}?"}}"#);
        let mut stream = TcpStream::connect(self.api).unwrap();
        write!(
            stream,
            "POST /v1/prisms/angry/results HTTP/1.1\r\nhost: refract\r\nauthorization: Bearer {}\r\n\
             content-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.key,
            body.len()
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let status = answer.get(9..12).unwrap();
        assert!(["200", "502"].contains(&status), "{answer}");
        status == "200"
    }
}

impl Drop for ApiCalls {
    fn drop(&mut self) {
        self.node.kill().unwrap();
        self.node.wait().unwrap();
    }
}
