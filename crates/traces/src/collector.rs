//! Sends a batch of spans to the collector over HTTP/1.1, on a new connection, and logs failures at
//! most once every five minutes.
//!
//! The SDK's export thread blocks until the answer comes and has no runtime, so the exchange runs
//! as a task of the main runtime. A batch is sent only every few seconds, so connections are not
//! kept alive.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{HOST, HeaderValue};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use opentelemetry_http::{HttpClient, HttpError};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

/// Largest answer that is read, in bytes.
const ANSWER_BYTES: usize = 64 * 1024;
/// Shortest time between two log lines about a collector that keeps failing.
const EVERY: Duration = Duration::from_mins(5);

/// The client for the collector.
pub(crate) struct Collector {
    pub(crate) runtime: Handle,
    pub(crate) tls: Arc<ClientConfig>,
    pub(crate) timeout: Duration,
    pub(crate) log: CollectorLog,
}

#[async_trait]
impl HttpClient for Collector {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (tls, wait) = (Arc::clone(&self.tls), self.timeout);
        // the timeout needs the main runtime too: this thread has no timer
        let exchange = async move { timeout(wait, exchange(tls, request)).await };
        let ended = self.runtime.spawn(exchange).await;
        let answer = match ended {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err("it does not answer in time".into()),
            Err(_) => Err("refract is shutting down".into()),
        };
        match &answer {
            Ok(answer) if answer.status().is_success() => self.log.taken(),
            Ok(answer) => self.log.failed(answer.status().as_str()),
            Err(error) => self.log.failed(&error.to_string()),
        }
        answer
    }
}

impl std::fmt::Debug for Collector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Collector(..)")
    }
}

async fn exchange(
    tls: Arc<ClientConfig>,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    let uri = request.uri();
    let is_encrypted = uri.scheme_str() == Some("https");
    // an IPv6 address has brackets only in a URI
    let host = uri.host().unwrap_or_default();
    let host = host.trim_matches(['[', ']']).to_owned();
    let port = uri.port_u16();
    let port = port.unwrap_or(if is_encrypted { 443 } else { 80 });
    let tcp = TcpStream::connect((host.as_str(), port)).await?;
    if is_encrypted {
        let name = ServerName::try_from(host)?;
        send(TlsConnector::from(tls).connect(name, tcp).await?, request).await
    } else {
        send(tcp, request).await
    }
}

async fn send(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    request: Request<Bytes>,
) -> Result<Response<Bytes>, HttpError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    // errors reach the sender too, so the task's result is not needed
    tokio::spawn(connection);
    let (mut head, body) = request.into_parts();
    // the request line has only the path: the header `Host` names the server
    let host = head.uri.authority().map_or("", |host| host.as_str());
    head.headers.insert(HOST, HeaderValue::try_from(host)?);
    let path = head.uri.path_and_query().cloned();
    head.uri = path.map(Uri::from).unwrap_or_default();
    let request = Request::from_parts(head, Full::new(body));
    let (head, body) = sender.send_request(request).await?.into_parts();
    let body = Limited::new(body, ANSWER_BYTES).collect().await?;
    Ok(Response::from_parts(head, body.to_bytes()))
}

/// Limits the rate of log lines about the collector.
#[derive(Debug, Default)]
pub(crate) struct CollectorLog {
    /// When a failure was last logged; `None` while batches are accepted.
    last: Mutex<Option<Instant>>,
}

impl CollectorLog {
    /// Logs that the collector did not accept a batch of spans.
    fn failed(&self, reason: &str) {
        if self.is_due(Instant::now()) {
            tracing::warn!(
                reason,
                "the collector does not take traces: spans are dropped, calls go on"
            );
        }
    }

    /// Logs that the collector accepts batches again, if a failure was logged before.
    pub(crate) fn taken(&self) {
        if self.last().take().is_some() {
            tracing::info!("the collector takes traces again");
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut last = self.last();
        if last.is_some_and(|last| now.duration_since(last) < EVERY) {
            return false;
        }
        *last = Some(now);
        true
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
