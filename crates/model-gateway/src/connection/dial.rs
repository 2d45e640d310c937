//! Opens connections: host name, TCP, TLS, HTTP/1.1.

use std::io::{self, ErrorKind};
use std::sync::Arc;

use hyper::Uri;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;

use super::pool::HttpSender;
use crate::error::{ModelError, Unreachable};

/// Opens connections to one server.
pub(super) struct Dialer {
    pub(super) host: String,
    pub(super) port: u16,
    tls: Option<TlsConnector>,
}

impl Dialer {
    /// Prepares connections to the host of `uri`, over TLS if `tls` is given.
    pub(super) fn new(uri: &Uri, tls: Option<Arc<ClientConfig>>) -> Self {
        let host = uri.host().unwrap_or_default();
        // only a URI writes an IPv6 address in brackets
        let host = host.trim_start_matches('[').trim_end_matches(']');
        let default_port = if tls.is_some() { 443 } else { 80 };
        Self {
            host: host.to_owned(),
            port: uri.port_u16().unwrap_or(default_port),
            tls: tls.map(TlsConnector::from),
        }
    }

    /// Opens a connection.
    pub(super) async fn connect(&self) -> Result<HttpSender, ModelError> {
        let tcp = self.connect_tcp().await?;
        match &self.tls {
            None => handshake(tcp).await,
            // boxed: thousands of plain connections should not each reserve memory for TLS
            Some(tls) => Box::pin(self.connect_tls(tls, tcp)).await,
        }
    }

    async fn connect_tcp(&self) -> Result<TcpStream, ModelError> {
        let addresses = lookup_host((self.host.as_str(), self.port)).await;
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

    async fn connect_tls(
        &self,
        tls: &TlsConnector,
        tcp: TcpStream,
    ) -> Result<HttpSender, ModelError> {
        let name = ServerName::try_from(self.host.clone())
            .map_err(|_| ModelError::Unreachable(Unreachable::UnknownHost))?;
        let encrypted = tls.connect(name, tcp).await;
        handshake(encrypted.map_err(|error| unreachable(&error, tls_reason(&error)))?).await
    }
}

/// Spawns the task that reads and writes a connection. The task ends when the sender is dropped.
async fn handshake(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) -> Result<HttpSender, ModelError> {
    let opened = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = opened.map_err(|_| ModelError::Disconnected)?;
    // the sender reports errors as well, so the task's result is not needed
    tokio::spawn(connection);
    Ok(sender)
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
    if of_handshake.contains(&error.kind()) {
        Unreachable::Tls
    } else {
        Unreachable::Network
    }
}

fn unreachable(error: &io::Error, reason: Unreachable) -> ModelError {
    tracing::debug!(%error, "no connection to the model server");
    ModelError::Unreachable(reason)
}
