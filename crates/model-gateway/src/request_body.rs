//! The body of a model request in parts, so that the requests about one submission share their
//! bytes.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// Three parts, sent one after the other; a clone shares the bytes.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody {
    parts: Arc<[Bytes; 3]>,
    /// Index of the part to be sent next.
    next: usize,
}

impl RequestBody {
    pub(crate) fn new(parts: [Bytes; 3]) -> Self {
        Self {
            parts: Arc::new(parts),
            next: 0,
        }
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
