//! The body of a model request in parts, so that the requests about one submission share their
//! bytes, and the path that the request is sent to.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::http::uri::PathAndQuery;

/// Parts that are sent one after the other; a clone shares the bytes.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody {
    parts: Arc<[Bytes]>,
    /// `None` for the endpoint of the protocol. Boxed: every connection has room for many bodies.
    path: Option<Box<PathAndQuery>>,
    /// Index of the part to be sent next.
    next: usize,
    has_system_message: bool,
}

impl RequestBody {
    /// A body for the endpoint of the protocol.
    pub(crate) fn new(parts: impl Into<Arc<[Bytes]>>) -> Self {
        Self {
            parts: parts.into(),
            path: None,
            next: 0,
            has_system_message: false,
        }
    }

    /// Marks a request that has a system message and can be sent without one.
    pub(crate) fn with_system_message(self, has_system_message: bool) -> Self {
        Self {
            has_system_message,
            ..self
        }
    }

    /// The body for another endpoint of the server.
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

    /// The path of the endpoint where it is not the protocol's.
    pub(crate) fn path(&self) -> Option<&PathAndQuery> {
        self.path.as_deref()
    }

    /// The parts that were not sent yet.
    pub(crate) fn parts(&self) -> &[Bytes] {
        self.parts.get(self.next..).unwrap_or_default()
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
        let bytes: usize = self.parts().iter().map(Bytes::len).sum();
        SizeHint::with_exact(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}
