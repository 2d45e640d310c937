//! A small HTTP/1.1 client with which tests control every byte that they send.

pub mod answer;

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use self::answer::HttpAnswer;
use crate::description;

/// The longest wait for any answer, even on a busy machine.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// A request, written out by [`Request::bytes`].
#[derive(Clone, Debug)]
pub struct Request {
    method: String,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    is_chunked: bool,
}

impl Request {
    /// A request with a target under `/v1`.
    pub fn new(method: &str, target: &str) -> Self {
        Self::outside(method, &format!("/v1{target}"))
    }

    /// A request with a target outside `/v1`.
    pub fn outside(method: &str, target: &str) -> Self {
        Self {
            method: method.to_owned(),
            target: target.to_owned(),
            headers: Vec::new(),
            body: None,
            is_chunked: false,
        }
    }

    /// A form with a file for a path of the app, as a browser sends it.
    pub fn upload(path: &str, name: &str, bytes: &[u8]) -> Self {
        Self::upload_with(path, &[], name, bytes)
    }

    /// A form of the app with values and a file.
    pub fn upload_with(path: &str, values: &[(&str, &str)], name: &str, bytes: &[u8]) -> Self {
        let border = "----border";
        let mut body: Vec<u8> = Vec::new();
        for (name, value) in values {
            let part = format!(
                "--{border}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n"
            );
            body.extend_from_slice(part.as_bytes());
        }
        let head = format!(
            "--{border}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(bytes);
        body.extend_from_slice(format!("\r\n--{border}--\r\n").as_bytes());
        Self::outside("POST", path)
            .header("Sec-Fetch-Site", "same-origin")
            .header(
                "Content-Type",
                &format!("multipart/form-data; boundary={border}"),
            )
            .body(body)
    }

    /// A `GET` request with a target under `/v1`.
    pub fn get(target: &str) -> Self {
        Self::new("GET", target)
    }

    /// A `POST` request with a target under `/v1`.
    pub fn post(target: &str) -> Self {
        Self::new("POST", target)
    }

    /// Adds a header, even if there is one with this name.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds an API key.
    pub fn bearer(self, key: &str) -> Self {
        self.header("Authorization", &format!("Bearer {key}"))
    }

    /// Sets the body, which is sent with `Content-Length`.
    pub fn body(self, bytes: impl Into<Vec<u8>>) -> Self {
        Self {
            body: Some(bytes.into()),
            ..self
        }
    }

    /// Sets a JSON body and its content type.
    pub fn json(self, body: &Value) -> Self {
        self.header("Content-Type", "application/json")
            .body(body.to_string())
    }

    /// Sends the body chunked, without `Content-Length`.
    pub fn chunked(self) -> Self {
        Self {
            is_chunked: true,
            ..self
        }
    }

    /// The request line and the headers.
    pub fn head(&self) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        let mut names = self.headers.iter().map(|(name, _)| name);
        if !names.any(|name| name.eq_ignore_ascii_case("host")) {
            head.push_str("Host: localhost\r\n");
        }
        for (name, value) in &self.headers {
            write!(head, "{name}: {value}\r\n").unwrap();
        }
        match &self.body {
            Some(_) if self.is_chunked => head.push_str("Transfer-Encoding: chunked\r\n"),
            Some(body) => write!(head, "Content-Length: {}\r\n", body.len()).unwrap(),
            None => {}
        }
        head.push_str("\r\n");
        head
    }

    /// The bytes of the whole request.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.head().into_bytes();
        let Some(body) = &self.body else {
            return bytes;
        };
        if !self.is_chunked {
            bytes.extend_from_slice(body);
            return bytes;
        }
        for chunk in body.chunks(60_000) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }

    /// Sends the request on a new connection.
    pub async fn send(&self, address: SocketAddr) -> HttpAnswer {
        let mut connection = HttpConnection::open(address).await;
        connection.call(self).await
    }
}

/// A keep-alive connection, closed on drop.
#[derive(Debug)]
pub struct HttpConnection {
    stream: TcpStream,
    received: Vec<u8>,
}

impl HttpConnection {
    /// Opens a connection.
    pub async fn open(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        Self {
            stream,
            received: Vec::new(),
        }
    }

    /// Sends a request, and compares its answer with the description of the API.
    pub async fn call(&mut self, request: &Request) -> HttpAnswer {
        self.send(&request.bytes()).await;
        let answer = self.answer().await;
        description::hold(&request.method, &request.target, &answer);
        answer
    }

    /// Sends bytes.
    pub async fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.unwrap();
    }

    /// Sends and reads concurrently, for a server that answers before it has read the whole body
    /// and may then close the connection.
    pub async fn call_of_unread_body(&mut self, bytes: &[u8]) -> HttpAnswer {
        let (mut reader, mut writer) = self.stream.split();
        let received = &mut self.received;
        let writing = async {
            writer.write_all(bytes).await.ok();
            // the select ends when the answer is complete
            std::future::pending::<()>().await;
        };
        let reading = async {
            while !is_whole(received) {
                assert_ne!(
                    reader.read_buf(received).await.unwrap(),
                    0,
                    "no whole answer"
                );
            }
        };
        tokio::select! {
            () = writing => {}
            () = within_patience(reading) => {}
        }
        self.answer().await
    }

    /// Reads the next answer, which may be an interim one (100).
    pub async fn answer(&mut self) -> HttpAnswer {
        within_patience(async {
            while !is_whole(&self.received) {
                let read = self.stream.read_buf(&mut self.received).await.unwrap();
                let so_far = String::from_utf8_lossy(&self.received);
                assert_ne!(read, 0, "the connection ended in an answer: {so_far:?}");
            }
        })
        .await;
        let (head_end, length) = extent(&self.received).unwrap();
        let head = String::from_utf8(self.received.drain(..head_end).collect()).unwrap();
        let body = self.received.drain(..length).collect();
        HttpAnswer::new(&head, String::from_utf8(body).unwrap())
    }

    /// Reads until the server closes the connection.
    pub async fn rest(&mut self) -> String {
        let reading = self.stream.read_to_end(&mut self.received);
        within_patience(reading).await.unwrap();
        String::from_utf8(std::mem::take(&mut self.received)).unwrap()
    }

    /// Whether the server closed the connection without sending more.
    pub async fn is_closed(&mut self) -> bool {
        within_patience(async {
            let read = self.stream.read_buf(&mut self.received).await;
            self.received.is_empty() && read.unwrap_or(0) == 0
        })
        .await
    }

    /// Closes the connection gracefully (FIN).
    pub async fn finish(mut self) {
        self.stream.shutdown().await.unwrap();
    }

    /// Resets the connection (RST).
    pub fn reset(self) {
        self.stream.set_zero_linger().unwrap();
    }
}

/// Awaits a future, and fails the test after [`PATIENCE`].
pub async fn within_patience<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future)
        .await
        .expect("it takes for ever")
}

/// Whether the bytes received contain a whole answer.
pub fn is_whole(received: &[u8]) -> bool {
    extent(received).is_some_and(|(head, body)| received.len() >= head + body)
}

/// The length of the first answer's head, and that of its body.
pub fn extent(received: &[u8]) -> Option<(usize, usize)> {
    let head_end = received.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    let head = String::from_utf8_lossy(&received[..head_end]).to_lowercase();
    let length = head
        .split("\r\n")
        .find_map(|line| line.strip_prefix("content-length:"))
        .map_or(0, |length| length.trim().parse().unwrap());
    Some((head_end, length))
}
