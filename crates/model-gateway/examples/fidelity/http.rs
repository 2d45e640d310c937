//! A client for HTTP servers without TLS, with a connection for each request.

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode, Uri};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

/// Length in characters at which a server's message is cut in an error.
const WORDS: usize = 300;

/// The address of a server, as `host:port`.
#[derive(Clone, Debug)]
pub(crate) struct PlainAddress(String);

impl PlainAddress {
    /// Reads `http://host:port`, with or without `/v1` at its end.
    pub(crate) fn parse(url: &str) -> anyhow::Result<Self> {
        let uri: Uri = url.parse().with_context(|| format!("{url}: no address"))?;
        if uri.scheme_str() != Some("http") || !matches!(uri.path(), "/" | "/v1" | "/v1/") {
            bail!("{url}: give the server's address as http://host:port");
        }
        let port = uri.port_u16().unwrap_or(80);
        let host = uri.host().unwrap_or_default();
        Ok(Self(format!("{host}:{port}")))
    }

    /// The address of a server on the loopback interface.
    pub(crate) fn loopback(port: u16) -> Self {
        Self(format!("127.0.0.1:{port}"))
    }

    /// The base address of the server's OpenAI-compatible endpoints.
    pub(crate) fn base_url(&self) -> String {
        format!("http://{}/v1", self.0)
    }

    /// Sends a request and reads the whole answer.
    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> anyhow::Result<(StatusCode, Bytes)> {
        let tcp = TcpStream::connect(&self.0)
            .await
            .with_context(|| format!("cannot connect to {}", self.0))?;
        tcp.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(tcp)).await?;
        actix_rt::spawn(connection);
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, &self.0)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))?;
        let reply = sender.send_request(request).await?;
        let status = reply.status();
        let body = reply.into_body().collect().await?.to_bytes();
        Ok((status, body))
    }

    /// Posts JSON and reads the answer's JSON. Any status but 200 is an error with the server's
    /// message.
    pub(crate) async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let body = body.to_string().into();
        let (status, body) = self.send(Method::POST, path, body).await?;
        if status != StatusCode::OK {
            let words = String::from_utf8_lossy(&body);
            let words: String = words.chars().take(WORDS).collect();
            bail!("the server answered {path} with status {status}: {words}");
        }
        serde_json::from_slice(&body)
            .with_context(|| format!("the server answered {path} with something that is no JSON"))
    }
}
