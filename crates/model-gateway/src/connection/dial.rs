//! Opens connections: host name, TCP, a proxy's tunnel, TLS, HTTP/1.1.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use hyper::Uri;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;

use super::proxy::{Proxy, without_brackets};
use super::server_connection::ServerConnection;
use super::transport;
use crate::error::{ModelError, Unreachable};

/// Opens connections to one server.
pub(super) struct Dialer {
    pub(super) host: String,
    pub(super) port: u16,
    tls: Option<TlsConnector>,
    proxy: Option<Arc<Proxy>>,
}

impl Dialer {
    /// Prepares connections to the host of `uri`, over TLS if a `config` is given, and through the proxy
    /// if one is given.
    pub(super) fn new(
        uri: &Uri,
        config: Option<Arc<ClientConfig>>,
        proxy: Option<Arc<Proxy>>,
    ) -> Self {
        let host = without_brackets(uri.host().unwrap_or_default());
        let default_port = if config.is_some() { 443 } else { 80 };
        Self {
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(default_port),
            tls: config.map(TlsConnector::from),
            proxy,
        }
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> Result<ServerConnection, ModelError> {
        let tcp = match &self.proxy {
            None => connect_tcp(&self.host, self.port).await,
            Some(proxy) => connect_tcp(&proxy.host, proxy.port)
                .await
                .map_err(|_| ModelError::Unreachable(Unreachable::Proxy)),
        };
        match &self.tls {
            None => ServerConnection::open(tcp?).await,
            // boxed: thousands of plain connections should not each reserve memory for TLS
            Some(tls) => Box::pin(self.connect_tls(tls, tcp?)).await,
        }
    }

    async fn connect_tls(
        &self,
        tls: &TlsConnector,
        tcp: TcpStream,
    ) -> Result<ServerConnection, ModelError> {
        let tcp = match &self.proxy {
            None => tcp,
            Some(proxy) => proxy.tunnel(tcp, &self.target()).await?,
        };
        let name = ServerName::try_from(self.host.clone())
            .map_err(|_| ModelError::Unreachable(Unreachable::UnknownHost))?;
        let encrypted = tls.connect(name, tcp).await;
        let encrypted = encrypted.map_err(|error| unreachable(&error, tls_reason(&error)))?;
        ServerConnection::open(encrypted).await
    }

    /// The server's host and port as a proxy is asked for them.
    fn target(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }
}

async fn connect_tcp(host: &str, port: u16) -> Result<TcpStream, ModelError> {
    let addresses = lookup_host((host, port)).await;
    let addresses = addresses.map_err(|error| unreachable(&error, Unreachable::UnknownHost))?;
    let addresses: Vec<_> = addresses.collect();
    let tcp = TcpStream::connect(addresses.as_slice()).await;
    let tcp = tcp.map_err(|error| unreachable(&error, tcp_reason(&error)))?;
    // Nagle's algorithm would hold back the end of a large request until the server
    // acknowledges the beginning
    if let Err(error) = tcp.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set towards the model server");
    }
    Ok(tcp)
}

fn tcp_reason(error: &io::Error) -> Unreachable {
    if error.kind() == ErrorKind::ConnectionRefused {
        Unreachable::Refused
    } else {
        Unreachable::Network
    }
}

fn tls_reason(error: &io::Error) -> Unreachable {
    let of_handshake = [
        ErrorKind::InvalidData,
        ErrorKind::InvalidInput,
        ErrorKind::UnexpectedEof,
    ];
    if transport::is_about_client_certificate(error) {
        Unreachable::ClientCertificate
    } else if let Some(fault) = transport::certificate_fault(error) {
        Unreachable::Certificate(fault)
    } else if of_handshake.contains(&error.kind()) {
        Unreachable::Tls
    } else {
        Unreachable::Network
    }
}

fn unreachable(error: &io::Error, reason: Unreachable) -> ModelError {
    tracing::debug!(%error, "no connection to the model server");
    ModelError::Unreachable(reason)
}
