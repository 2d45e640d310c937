//! A request's body in parts, so that requests of one call share their bytes.

use std::array;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use awc::body::{BodySize, MessageBody};
use bytes::Bytes;

/// The client copies a piece before it sends it, and a hundred requests may be under way at once:
/// in pieces of this size none of them holds a copy of the whole body.
const PIECE_BYTES: usize = 16 * 1024;

/// Three parts, sent one after the other; a clone shares the bytes.
#[derive(Clone, Debug)]
pub(crate) struct RequestBody {
    parts: array::IntoIter<Bytes, 3>,
    /// What of the part that is being sent has not been sent.
    part: Bytes,
}

impl RequestBody {
    pub(crate) fn new(parts: [Bytes; 3]) -> Self {
        Self {
            parts: parts.into_iter(),
            part: Bytes::new(),
        }
    }

    /// What it is made of.
    #[cfg(test)]
    pub(crate) fn parts(self) -> [Bytes; 3] {
        self.parts
            .collect::<Vec<_>>()
            .try_into()
            .unwrap_or_default()
    }
}

impl MessageBody for RequestBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        let bytes: usize = self.parts.as_slice().iter().map(Bytes::len).sum();
        BodySize::Sized(u64::try_from(bytes + self.part.len()).unwrap_or(u64::MAX))
    }

    fn poll_next(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        while self.part.is_empty() {
            let Some(part) = self.parts.next() else {
                return Poll::Ready(None);
            };
            self.part = part;
        }
        let bytes = self.part.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(self.part.split_to(bytes))))
    }
}
