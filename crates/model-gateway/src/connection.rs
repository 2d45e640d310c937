//! HTTP exchanges with a model server: one request and its answer, without timeout or second
//! attempt.
//!
//! HTTP/1.1 on purpose: a connection carries one request at a time, so closing the connection stops
//! an abandoned request. Redirects are not followed.
//!
//! What was sent is never sent again, since the server may have read it: only a request that a closed
//! connection returns unsent goes over a new one.

mod dial;
mod proxy;
pub(crate) mod renewable_key;
pub(crate) mod reply;
pub(crate) mod request_body;
mod server_connection;
pub(crate) mod transport;

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue,
    PROXY_AUTHORIZATION, USER_AGENT,
};
use hyper::{Request, Response, StatusCode, Uri};
use refract_traces::TraceHeaders;
use rustls::ClientConfig;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use self::dial::Dialer;
use self::proxy::Proxy;
use self::renewable_key::RenewableKey;
use self::reply::ReplyHead;
use self::request_body::RequestBody;
use self::server_connection::{IdleConnections, PoolsOfThreads, ServerConnection};
use self::transport::Transport;
use crate::error::{ModelError, Unreachable};
use crate::settings::{ModelApiKey, SettingError};

pub(crate) use self::reply::ServerReply;

/// Idle time after which we close a connection without TLS: less than the five seconds of uvicorn,
/// Node.js and llama.cpp, since a request that meets their closing fails.
const KEEP_ALIVE: Duration = Duration::from_secs(4);
/// The same over TLS, as long as the official clients: each new connection costs a lone call the
/// handshakes, and hosts keep theirs for a minute or more.
const KEEP_ALIVE_TLS: Duration = Duration::from_secs(30);
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const REFRACT: HeaderValue =
    HeaderValue::from_static(concat!("refract/", env!("CARGO_PKG_VERSION")));
/// Asks `LiteLLM` to hand on a refusal at once: as it is installed, it keeps a request for longer than
/// an attempt may take, and asks the host twice more meanwhile.
const GATEWAY_RETRIES: HeaderName = HeaderName::from_static("x-litellm-num-retries");

/// Address, headers and TLS configuration of the model server, shared by all threads.
#[derive(Debug)]
pub(crate) struct ServerAccess {
    uri: Uri,
    headers: HeaderMap,
    tls: Option<Arc<ClientConfig>>,
    proxy: Option<Arc<Proxy>>,
    keep_alive: Duration,
    /// The runtime that made this value. It reads and writes all connections over TLS: threads lend
    /// them to each other, and none may end with a thread. `None` outside a runtime: no connection
    /// is lent then.
    runtime: Option<Handle>,
    pools: PoolsOfThreads,
    /// The key from a file; it takes precedence over the one among the headers.
    renewable_key: Option<Arc<RenewableKey>>,
}

impl ServerAccess {
    /// Prepares requests to the endpoint at `uri`.
    pub(crate) fn new(
        uri: Uri,
        api_key: Option<&ModelApiKey>,
        transport: &Transport<'_>,
    ) -> Result<Self, SettingError> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, JSON);
        headers.insert(ACCEPT, JSON);
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(USER_AGENT, REFRACT);
        headers.insert(GATEWAY_RETRIES, HeaderValue::from_static("0"));
        let host = uri.authority().ok_or(SettingError::Endpoint)?;
        let host = HeaderValue::try_from(host.as_str()).map_err(|_| SettingError::Endpoint)?;
        headers.insert(HOST, host);
        if let Some(key) = api_key {
            let (name, value) = key.entry()?;
            headers.insert(name, value);
        }
        let tls = transport.tls_to(&uri)?;
        let proxy = transport.proxy_to(&uri)?;
        // in a tunnel the proxy does not see the request
        let authorization = proxy.as_ref().filter(|_| tls.is_none());
        if let Some(value) = authorization.and_then(|proxy| proxy.authorization.clone()) {
            headers.insert(PROXY_AUTHORIZATION, value);
        }
        Ok(Self {
            uri,
            headers,
            proxy: proxy.map(Arc::new),
            keep_alive: tls.as_ref().map_or(KEEP_ALIVE, |_| KEEP_ALIVE_TLS),
            tls,
            runtime: Handle::try_current().ok(),
            pools: PoolsOfThreads::default(),
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
        let dialer = Dialer::new(&access.uri, access.tls.clone(), access.proxy.clone());
        let idle = Arc::new(IdleConnections::new(access.keep_alive));
        access.pools.add(&idle);
        Self {
            access,
            dialer: Arc::new(dialer),
            idle,
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
        let (response, connection) = self.send(body, trace).await?;
        if response.status() == StatusCode::PROXY_AUTHENTICATION_REQUIRED && self.is_proxied() {
            let refused = Unreachable::ProxyStatus(response.status().as_u16());
            return Err(ModelError::Unreachable(refused));
        }
        head.set(ReplyHead::read(response.headers()));
        let reply = reply::read(response).await;
        self.idle.put(connection);
        reply
    }

    /// Sends a request over a kept connection, or over a new one if none is usable.
    async fn send(
        &self,
        body: RequestBody,
        trace: Option<&TraceHeaders>,
    ) -> Result<(Response<Incoming>, ServerConnection), ModelError> {
        let kept = self.idle.take().or_else(|| self.take_of_another_thread());
        if let Some(mut kept) = kept {
            match kept.send(self.request(body.clone(), trace)).await {
                Ok(response) => return Ok((response, kept)),
                Err(failure) if failure.is_unreceived => {
                    let error = failure.error;
                    tracing::debug!(%error, "the model server had closed a kept connection");
                }
                Err(failure) => return Err(reply::send_failure(&failure.error)),
            }
        }
        let mut connection = self.connect().await?;
        let sent = connection.send(self.request(body, trace)).await;
        let response = sent.map_err(|failure| reply::send_failure(&failure.error))?;
        Ok((response, connection))
    }

    /// Opens a connection. Dropping the future stops that.
    async fn connect(&self) -> Result<ServerConnection, ModelError> {
        let Some(runtime) = self.shared_runtime() else {
            return self.dialer.connect().await;
        };
        let dialer = Arc::clone(&self.dialer);
        let mut dialing = JoinSet::new();
        dialing.spawn_on(async move { dialer.connect().await }, runtime);
        let connected = dialing.join_next().await;
        // only a process that ends has stopped the runtime
        let ended = Err(ModelError::Unreachable(Unreachable::Network));
        connected.and_then(Result::ok).unwrap_or(ended)
    }

    /// The runtime of connections that threads lend to each other.
    fn shared_runtime(&self) -> Option<&Handle> {
        self.access.tls.as_ref()?;
        self.access.runtime.as_ref()
    }

    /// Takes an idle connection of another thread if a new one would need the handshakes of TLS,
    /// which take longer than the way through two threads. Calls that come one by one reach
    /// different threads.
    fn take_of_another_thread(&self) -> Option<ServerConnection> {
        self.shared_runtime()?;
        self.access.pools.take()
    }

    fn is_proxied(&self) -> bool {
        self.access.proxy.is_some()
    }

    fn request(&self, body: RequestBody, trace: Option<&TraceHeaders>) -> Request<RequestBody> {
        let target = self.request_target(&body);
        let method = body.method();
        let mut request = Request::new(body);
        *request.method_mut() = method;
        *request.uri_mut() = target;
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

    /// The request line has only the path, since the header `Host` names the server. A proxy reads
    /// the whole address there.
    fn request_target(&self, body: &RequestBody) -> Uri {
        let path = body.path().or_else(|| self.access.uri.path_and_query());
        let path = path.cloned().map(Uri::from).unwrap_or_default();
        if !self.is_proxied() || self.access.tls.is_some() {
            return path;
        }
        let mut parts = path.into_parts();
        parts.scheme = self.access.uri.scheme().cloned();
        parts.authority = self.access.uri.authority().cloned();
        Uri::from_parts(parts).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
