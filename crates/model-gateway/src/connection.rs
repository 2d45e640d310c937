//! HTTP exchanges with a model server: one request and its answer, without timeout or second
//! attempt.
//!
//! HTTP/1.1 on purpose: a connection carries one request at a time, so closing the connection stops
//! an abandoned request. Redirects are not followed and proxies of the environment are not used.

mod dial;
mod pool;
pub(crate) mod renewable_key;
mod reply;
pub(crate) mod reply_head;
pub(crate) mod request_body;
mod retry_after;
#[cfg(test)]
mod tests;
pub(crate) mod tls;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderValue, USER_AGENT};
use hyper::{Request, Response, Uri};
use refract_traces::TraceHeaders;
use rustls::ClientConfig;

use self::dial::Dialer;
use self::pool::{HttpSender, IdleConnections};
use self::renewable_key::RenewableKey;
pub(crate) use self::reply::ServerReply;
use self::reply_head::ReplyHead;
use self::request_body::RequestBody;
use crate::error::ModelError;
use crate::settings::ModelApiKey;
use crate::settings::setting_error::SettingError;

/// Common model servers close a connection after five idle seconds. We close it earlier, so that no
/// request meets a closing connection.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const REFRACT: HeaderValue =
    HeaderValue::from_static(concat!("refract/", env!("CARGO_PKG_VERSION")));

/// Address, headers and TLS configuration of the model server, shared by all threads.
#[derive(Debug)]
pub(crate) struct ServerAccess {
    uri: Uri,
    headers: HeaderMap,
    tls: Option<Arc<ClientConfig>>,
    keep_alive: Duration,
    /// The key from a file; it takes precedence over the one among the headers.
    renewable_key: Option<Arc<RenewableKey>>,
}

impl ServerAccess {
    /// Prepares requests to the endpoint at `uri`.
    pub(crate) fn new(uri: Uri, api_key: Option<&ModelApiKey>) -> Result<Self, SettingError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, JSON);
        headers.insert(USER_AGENT, REFRACT);
        let host = uri.authority().ok_or(SettingError::Endpoint)?;
        let host = HeaderValue::try_from(host.as_str()).map_err(|_| SettingError::Endpoint)?;
        headers.insert(HOST, host);
        if let Some(key) = api_key {
            let (name, value) = key.entry()?;
            headers.insert(name, value);
        }
        let tls = match uri.scheme_str() {
            Some("https") => Some(Arc::new(tls::client_config()?)),
            Some(_) | None => None,
        };
        Ok(Self {
            uri,
            headers,
            tls,
            keep_alive: KEEP_ALIVE,
            renewable_key: None,
        })
    }

    /// Uses a key that may change instead of the fixed one.
    pub(crate) fn with_renewable_key(self, renewable_key: Option<Arc<RenewableKey>>) -> Self {
        Self {
            renewable_key,
            ..self
        }
    }
}

/// Connections of one thread to the model server.
#[derive(Clone)]
pub(crate) struct ModelConnections {
    access: Arc<ServerAccess>,
    dialer: Arc<Dialer>,
    idle: Arc<IdleConnections>,
}

impl ModelConnections {
    pub(crate) fn new(access: Arc<ServerAccess>) -> Self {
        let dialer = Dialer::new(&access.uri, access.tls.clone());
        let idle = IdleConnections::new(access.keep_alive);
        Self {
            access,
            dialer: Arc::new(dialer),
            idle: Arc::new(idle),
        }
    }

    /// A clone without open connections, to the same server.
    pub(crate) fn with_none_open(&self) -> Self {
        Self::new(Arc::clone(&self.access))
    }

    /// The server's host name or address, and its port.
    pub(crate) fn host_and_port(&self) -> (&str, u16) {
        (&self.dialer.host, self.dialer.port)
    }

    /// Sends one request with its trace headers and reads the whole answer. Dropping the future
    /// closes the connection. `head` is known as soon as the answer begins, even if it never ends.
    pub(crate) async fn exchange(
        &self,
        body: RequestBody,
        trace: Option<&TraceHeaders>,
        head: &Cell<Option<Box<ReplyHead>>>,
    ) -> Result<ServerReply, ModelError> {
        let (response, sender) = self.send(self.request(body, trace)).await?;
        head.set(ReplyHead::read(response.headers()));
        let reply = reply::read(response).await;
        self.idle.put(sender);
        reply
    }

    /// Sends a request over an idle connection, or over a new one if none is usable.
    async fn send(
        &self,
        mut request: Request<RequestBody>,
    ) -> Result<(Response<Incoming>, HttpSender), ModelError> {
        while let Some(mut sender) = self.idle.take() {
            match sender.try_send_request(request).await {
                Ok(response) => return Ok((response, sender)),
                // the server had closed the connection, so nothing was sent
                Err(mut error) => match error.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(reply::send_failure(&error.into_error())),
                },
            }
        }
        let mut sender = self.dialer.connect().await?;
        let sent = sender.send_request(request).await;
        let response = sent.map_err(|error| reply::send_failure(&error))?;
        Ok((response, sender))
    }

    fn request(&self, body: RequestBody, trace: Option<&TraceHeaders>) -> Request<RequestBody> {
        // the request line has only the path: the header `Host` names the server
        let path = body.path().or_else(|| self.access.uri.path_and_query());
        let path = path.cloned().map(Uri::from).unwrap_or_default();
        let method = body.method();
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = path;
        let headers = request.headers_mut();
        headers.clone_from(&self.access.headers);
        if let Some(key) = &self.access.renewable_key {
            let (name, value) = key.entry();
            headers.insert(name, value);
        }
        for (name, value) in trace.into_iter().flat_map(TraceHeaders::entries) {
            if let Ok(value) = HeaderValue::from_str(value) {
                headers.insert(name, value);
            }
        }
        request
    }
}
