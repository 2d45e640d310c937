//! Reads HTTP/1.1 requests, the subset that a test's model server needs, and records exchanges for
//! `.ci/trials/check-services`, which validates them with the official clients.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;
use std::{env, process};

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

/// A folder; if it is set, every exchange is appended to a file there.
const FOLDER: &str = "REFRACT_TEST_EXCHANGES";

/// A request as the server received it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedRequest {
    /// The method, such as `POST`.
    pub method: String,
    /// The path with the query.
    pub path: String,
    /// The headers in the order sent, with names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, byte for byte.
    pub body: Vec<u8>,
}

impl ReceivedRequest {
    /// The value of the header with this name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(sent, _)| sent == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON; null for a body that is not JSON.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

/// The next request of a connection; `None` at the end. Leaves bytes of later requests in
/// `received`.
pub(super) async fn read_request(
    stream: &mut TcpStream,
    received: &mut Vec<u8>,
) -> Option<ReceivedRequest> {
    let head_end = loop {
        match received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            Some(position) => break position + 4,
            None => read_more(stream, received).await?,
        }
    };
    let head: Vec<u8> = received.drain(..head_end).collect();
    let mut request = parse_head(&String::from_utf8(head).ok()?)?;
    let length = request
        .header("content-length")
        .map_or(Some(0), |value| value.parse().ok())?;
    while received.len() < length {
        read_more(stream, received).await?;
    }
    request.body = received.drain(..length).collect();
    Some(request)
}

/// Reads the bytes that have arrived; `None` at the end of the connection.
async fn read_more(stream: &mut TcpStream, received: &mut Vec<u8>) -> Option<()> {
    received.reserve(16 * 1024);
    match stream.read_buf(received).await {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(()),
    }
}

fn parse_head(head: &str) -> Option<ReceivedRequest> {
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ');
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let headers = lines.filter_map(|line| line.split_once(':'));
    let headers = headers
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    Some(ReceivedRequest {
        method,
        path,
        headers,
        body: Vec::new(),
    })
}

/// Records an exchange, if a folder is set. `is_computed` marks an answer of a scripted model, as
/// opposed to bytes of a test.
pub(super) fn record(request: &ReceivedRequest, status: u16, answer: &[u8], is_computed: bool) {
    let Some(folder) = env::var_os(FOLDER).filter(|folder| !folder.is_empty()) else {
        return;
    };
    if let Err(error) = append(&folder, request, status, answer, is_computed) {
        panic!("{FOLDER}: the exchange cannot be recorded: {error}");
    }
}

fn append(
    folder: &OsStr,
    request: &ReceivedRequest,
    status: u16,
    answer: &[u8],
    is_computed: bool,
) -> io::Result<()> {
    let exchange = json!({
        "path": request.path,
        "request": request.text(),
        "status": status,
        "answer": String::from_utf8_lossy(answer),
        "computed": is_computed,
    });
    let file = Path::new(folder).join(format!("{}.jsonl", process::id()));
    let mut file = OpenOptions::new().create(true).append(true).open(file)?;
    // one write, so that the lines of several servers do not mix
    file.write_all(format!("{exchange}\n").as_bytes())
}
