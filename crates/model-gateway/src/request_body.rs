//! A request's body in parts, so that requests of one call share their bytes.

use std::array;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use awc::body::{BodySize, MessageBody};
use bytes::Bytes;

/// Three parts, sent one after the other; a clone shares the bytes.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody(array::IntoIter<Bytes, 3>);

impl RequestBody {
    pub(crate) fn new(parts: [Bytes; 3]) -> Self {
        Self(parts.into_iter())
    }

    /// What it is made of.
    #[cfg(test)]
    pub(crate) fn parts(self) -> [Bytes; 3] {
        self.0.collect::<Vec<_>>().try_into().unwrap_or_default()
    }
}

impl MessageBody for RequestBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        let bytes: usize = self.0.as_slice().iter().map(Bytes::len).sum();
        BodySize::Sized(u64::try_from(bytes).unwrap_or(u64::MAX))
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}
