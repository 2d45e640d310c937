//! One HTTP/1.1 connection to a model server.

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};

use super::request_body::RequestBody;
use crate::error::ModelError;

/// Sends requests over one connection, one at a time. Dropping it closes the connection.
pub(super) struct ServerConnection {
    sender: SendRequest<RequestBody>,
}

/// Why the head of an answer did not come.
pub(super) struct SendError {
    pub(super) error: hyper::Error,
    /// Whether no byte of the request was sent: the server had closed the connection.
    pub(super) is_unsent: bool,
}

impl ServerConnection {
    /// Starts HTTP/1.1 on a stream, and spawns the task that reads and writes it on the current
    /// runtime. The task ends when the connection is dropped.
    pub(super) async fn open(
        stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    ) -> Result<Self, ModelError> {
        let opened = http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = opened.map_err(|_| ModelError::Disconnected)?;
        // the sender reports errors as well, so the task's result is not needed
        tokio::spawn(connection);
        Ok(Self { sender })
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(
        &mut self,
        request: Request<RequestBody>,
    ) -> Result<Response<Incoming>, SendError> {
        let sent = self.sender.try_send_request(request).await;
        sent.map_err(|mut failure| SendError {
            is_unsent: failure.take_message().is_some(),
            error: failure.into_error(),
        })
    }

    /// Whether a request can be sent: no answer is unread, and the server has not closed the
    /// connection.
    pub(super) fn is_ready(&self) -> bool {
        self.sender.is_ready()
    }

    /// Whether the connection is known to be closed.
    pub(super) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }
}
