//! Connections to a model server: one HTTP exchange, without a clock and without a second try.
//!
//! Plain HTTP/1.1 on purpose: a connection carries one request at a time, so that an abandoned
//! request is stopped by closing it. No redirects, no proxy from the environment.

#[cfg(test)]
mod tests;
mod wire;

use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::Duration;

use actix_service::ServiceExt as _;
use actix_tls::connect::{Connection, Connector as TcpConnector, Resolver};
use awc::error::{ConnectError, PayloadError, SendRequestError};
use awc::http::header::{
    ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    RETRY_AFTER, TRANSFER_ENCODING, USER_AGENT,
};
use awc::http::{StatusCode, Uri, Version};
use awc::{Client, Connector};
use bytes::Bytes;
use rustls::ClientConfig;
use tokio::net::TcpStream;

use crate::failure::{ModelFailure, Unreachable};
use crate::refusal;
use crate::request_body::RequestBody;
use crate::settings::{ModelApiKey, SettingFault};
use crate::tls;
use wire::Wire;

/// Answers over this many bytes are refused.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// A refusal over this many bytes is not read for the parameter that it names.
const REFUSAL_BYTES: usize = 64 * 1024;
/// Below the five seconds after which common model servers close an idle connection.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const REFRACT: HeaderValue =
    HeaderValue::from_static(concat!("refract/", env!("CARGO_PKG_VERSION")));

/// What came back from one exchange.
pub(crate) enum Reply {
    /// Status 200, with its whole body.
    Answer(Bytes),
    /// A status after which one more attempt is worth while: 429 or any 5xx.
    TryAgain {
        status: u16,
        /// The header as it was sent.
        retry_after: Option<String>,
    },
}

/// What the connections of all threads share.
#[derive(Debug)]
pub(crate) struct ServerAccess {
    headers: HeaderMap,
    tls: Option<Arc<ClientConfig>>,
    timeout: Duration,
    keep_alive: Duration,
}

impl ServerAccess {
    /// For a server at `uri`; connecting may take `timeout`.
    pub(crate) fn new(
        uri: &Uri,
        api_key: Option<&ModelApiKey>,
        timeout: Duration,
    ) -> Result<Self, SettingFault> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, JSON);
        headers.insert(USER_AGENT, REFRACT);
        if let Some(key) = api_key {
            let mut bearer = HeaderValue::try_from(format!("Bearer {}", key.as_str()))
                .map_err(|_| SettingFault::ApiKey)?;
            bearer.set_sensitive(true);
            headers.insert(AUTHORIZATION, bearer);
        }
        let tls = match uri.scheme_str() {
            Some("https") => Some(Arc::new(tls::config(tls::roots())?)),
            Some(_) | None => None,
        };
        Ok(Self {
            headers,
            tls,
            timeout,
            keep_alive: KEEP_ALIVE,
        })
    }
}

/// The connections of one thread.
#[derive(Clone)]
pub(crate) struct Connections {
    client: Client,
    access: Arc<ServerAccess>,
}

impl Connections {
    pub(crate) fn new(access: Arc<ServerAccess>) -> Self {
        let tcp = TcpConnector::new(Resolver::default())
            .service()
            .map(prepare);
        // connecting is part of an attempt, whose clock is the only one; so is the bound on
        // requests in flight, which awc would count per thread and against that clock
        let mut connector = Connector::new()
            .connector(tcp)
            .timeout(access.timeout)
            .handshake_timeout(access.timeout)
            .conn_keep_alive(access.keep_alive)
            .limit(0);
        if let Some(tls) = &access.tls {
            connector = connector.rustls_0_23(Arc::clone(tls));
        }
        let client = Client::builder()
            .connector(connector)
            .disable_timeout()
            .disable_redirects()
            .finish();
        Self { client, access }
    }

    /// Sends one request and reads the whole answer.
    pub(crate) async fn exchange(
        &self,
        uri: &Uri,
        body: RequestBody,
    ) -> Result<Reply, ModelFailure> {
        let mut request = self.client.post(uri);
        request.headers_mut().clone_from(&self.access.headers);
        let mut response = request
            .send_body(body)
            .await
            .map_err(|error| self.send_failure(error))?;
        let status = response.status();
        if status == StatusCode::OK {
            if is_unframed(response.version(), response.headers()) {
                return Err(ModelFailure::Unframed);
            }
            let announced = header(response.headers(), &CONTENT_LENGTH);
            let body = response
                .body()
                .limit(ANSWER_BYTES)
                .await
                .map_err(|error| body_failure(&error))?;
            return whole(body, announced).map(Reply::Answer);
        }
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            let retry_after = header(response.headers(), &RETRY_AFTER);
            return Ok(Reply::TryAgain {
                status: status.as_u16(),
                retry_after,
            });
        }
        if status.is_redirection() {
            return Err(ModelFailure::Redirect(status.as_u16()));
        }
        let status = status.as_u16();
        if !matches!(status, 400 | 422) {
            return Err(ModelFailure::Status(status));
        }
        let body = response.body().limit(REFUSAL_BYTES).await;
        let parameter = body.ok().and_then(|body| refusal::parameter(&body));
        Err(parameter.map_or(ModelFailure::Status(status), |parameter| {
            ModelFailure::ParameterRefused { parameter, status }
        }))
    }

    fn send_failure(&self, error: SendRequestError) -> ModelFailure {
        tracing::debug!(%error, "no answer came from the model server");
        match error {
            SendRequestError::Connect(error) => self.connect_failure(&error),
            SendRequestError::Timeout => ModelFailure::TimedOut(self.access.timeout),
            SendRequestError::Response(_) => ModelFailure::NotHttp,
            SendRequestError::Url(_) => ModelFailure::Unreachable(Unreachable::UnknownHost),
            SendRequestError::Send(_)
            | SendRequestError::Http(_)
            | SendRequestError::H2(_)
            | SendRequestError::TunnelNotSupported
            | SendRequestError::Body(_)
            | SendRequestError::Custom(..)
            | _ => ModelFailure::Disconnected,
        }
    }

    fn connect_failure(&self, error: &ConnectError) -> ModelFailure {
        let reason = match error {
            ConnectError::Timeout => return ModelFailure::TimedOut(self.access.timeout),
            ConnectError::Disconnected => return ModelFailure::Disconnected,
            ConnectError::Resolver(_) | ConnectError::NoRecords | ConnectError::Unresolved => {
                Unreachable::UnknownHost
            }
            ConnectError::Io(error) => self.io_reason(error),
            ConnectError::SslIsNotSupported | ConnectError::H2(_) | _ => Unreachable::Network,
        };
        ModelFailure::Unreachable(reason)
    }

    fn io_reason(&self, error: &io::Error) -> Unreachable {
        let of_handshake = [
            ErrorKind::InvalidData,
            ErrorKind::InvalidInput,
            ErrorKind::UnexpectedEof,
        ];
        if error.kind() == ErrorKind::ConnectionRefused {
            Unreachable::Refused
        } else if self.access.tls.is_some() && of_handshake.contains(&error.kind()) {
            Unreachable::Tls
        } else {
            Unreachable::Network
        }
    }
}

/// Turns off Nagle's algorithm, which awc leaves on: it holds back the end of a larger request
/// until the server has acknowledged the beginning. And reads what awc would not.
fn prepare(connection: Connection<Uri, TcpStream>) -> Connection<Uri, Wire> {
    if let Err(error) = connection.io_ref().set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set towards the model server");
    }
    let (tcp, connection) = connection.replace_io(());
    let ((), connection) = connection.replace_io(Wire::new(tcp));
    connection
}

/// Whether only the connection's end tells the end of the body, in HTTP/1.1 behind TLS: awc takes
/// such a body for none. Without TLS, [`Wire`] has changed the version.
fn is_unframed(version: Version, headers: &HeaderMap) -> bool {
    version == Version::HTTP_11
        && !headers.contains_key(CONTENT_LENGTH)
        && !headers.contains_key(TRANSFER_ENCODING)
}

fn header(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// The body, unless it is shorter than announced: awc takes a connection that ends early for the
/// end of the body.
fn whole(body: Bytes, announced: Option<String>) -> Result<Bytes, ModelFailure> {
    match announced.and_then(|length| length.parse::<usize>().ok()) {
        Some(length) if body.len() < length => Err(ModelFailure::Disconnected),
        Some(_) | None => Ok(body),
    }
}

fn body_failure(error: &PayloadError) -> ModelFailure {
    tracing::debug!(%error, "the model server's answer could not be read");
    match error {
        PayloadError::Overflow => ModelFailure::TooLarge,
        PayloadError::EncodingCorrupted | PayloadError::UnknownLength => ModelFailure::NotHttp,
        PayloadError::Incomplete(_) | PayloadError::Http2Payload(_) | PayloadError::Io(_) | _ => {
            ModelFailure::Disconnected
        }
    }
}
