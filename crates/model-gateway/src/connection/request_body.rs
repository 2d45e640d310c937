//! The body of a model request in parts, so that all requests about one submission share bytes, and
//! the path of its endpoint.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::Method;
use hyper::body::{Body, Frame, SizeHint};
use hyper::http::uri::PathAndQuery;

/// Parts that are sent one after the other; a clone shares the bytes.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody {
    parts: Arc<[Bytes]>,
    /// `None` for the protocol's endpoint. Boxed to keep the body small: every connection reserves
    /// room for many.
    path: Option<Box<PathAndQuery>>,
    /// Index of the next part to send.
    next: usize,
    has_system_message: bool,
}

impl RequestBody {
    /// A body for the protocol's endpoint.
    pub(crate) fn new(parts: impl Into<Arc<[Bytes]>>) -> Self {
        Self {
            parts: parts.into(),
            path: None,
            next: 0,
            has_system_message: false,
        }
    }

    /// A request without a body, to an endpoint other than the protocol's.
    pub(crate) fn none(path: &PathAndQuery) -> Self {
        Self::new(Vec::new()).sent_to(path)
    }

    /// The method: a request without a body is a `GET`.
    pub(crate) fn method(&self) -> Method {
        if self.parts.is_empty() {
            Method::GET
        } else {
            Method::POST
        }
    }

    /// Marks a request that has a system message and can be sent without one.
    pub(crate) fn with_system_message(self, has_system_message: bool) -> Self {
        Self {
            has_system_message,
            ..self
        }
    }

    /// Sends the body to another endpoint of the server.
    pub(crate) fn sent_to(self, path: &PathAndQuery) -> Self {
        Self {
            path: Some(Box::new(path.clone())),
            ..self
        }
    }

    /// Whether the request has a system message and can be sent without one.
    pub(crate) fn has_system_message(&self) -> bool {
        self.has_system_message
    }

    /// The path of an endpoint other than the protocol's.
    pub(crate) fn path(&self) -> Option<&PathAndQuery> {
        self.path.as_deref()
    }

    /// The parts that are not sent yet.
    pub(crate) fn parts(&self) -> &[Bytes] {
        self.parts.get(self.next..).unwrap_or_default()
    }

    /// Number of bytes that are still to be sent.
    pub(crate) fn bytes(&self) -> usize {
        self.parts().iter().map(Bytes::len).sum()
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let part = self.parts().first().cloned();
        self.next += 1;
        Poll::Ready(part.map(|part| Ok(Frame::data(part))))
    }

    fn is_end_stream(&self) -> bool {
        self.parts().is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(u64::try_from(self.bytes()).unwrap_or(u64::MAX))
    }
}
