//! The body of a reply.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BodyStream, BoxBody, MessageBody};
use actix_web::dev::Payload;
use bytes::Bytes;
use futures_util::Stream;
use refract_http_serving::{HeldRoom, RequestUnderWay};

/// The most bytes handed to the HTTP server at once. The server copies these bytes, and a page of
/// many MiB must not be in memory twice.
const AT_ONCE: usize = 64 * 1024;

/// The content of a reply, with its memory reservation.
pub(crate) struct PageContent {
    bytes: PageBytes,
    room: Option<HeldRoom>,
}

enum PageBytes {
    Whole(Bytes),
    Streamed(BoxBody),
}

/// The content of a reply together with its request.
pub(crate) struct PageBody {
    content: PageContent,
    // an unread payload that is still alive when the reply ends closes the connection
    _unread: Payload,
    _under_way: RequestUnderWay,
}

impl PageContent {
    /// Content that is complete.
    pub(crate) fn whole(bytes: Bytes) -> Self {
        Self {
            bytes: PageBytes::Whole(bytes),
            room: None,
        }
    }

    /// Content that is produced while it is sent.
    pub(crate) fn streamed<E>(chunks: impl Stream<Item = Result<Bytes, E>> + 'static) -> Self
    where
        E: Into<Box<dyn Error>> + 'static,
    {
        Self {
            bytes: PageBytes::Streamed(BoxBody::new(BodyStream::new(chunks))),
            room: None,
        }
    }

    /// The content with this memory reservation, reduced to its size.
    pub(crate) fn in_room(self, room: Option<HeldRoom>) -> Self {
        let needed = match &self.bytes {
            PageBytes::Whole(bytes) => bytes.len(),
            PageBytes::Streamed(_) => 0,
        };
        let room = room.map(|mut room| {
            room.shrink_to(needed);
            room
        });
        Self { room, ..self }
    }

    /// The content as the body of the reply to a request.
    pub(crate) fn sent_by(self, unread: Payload, under_way: RequestUnderWay) -> PageBody {
        PageBody {
            content: self,
            _unread: unread,
            _under_way: under_way,
        }
    }
}

impl MessageBody for PageBody {
    type Error = Box<dyn Error>;

    fn size(&self) -> BodySize {
        match &self.content.bytes {
            PageBytes::Whole(bytes) => BodySize::Sized(bytes.len().try_into().unwrap_or(u64::MAX)),
            PageBytes::Streamed(body) => body.size(),
        }
    }

    fn poll_next(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Self::Error>>> {
        let content = &mut self.get_mut().content;
        match &mut content.bytes {
            PageBytes::Whole(bytes) if bytes.is_empty() => {
                content.room = None;
                Poll::Ready(None)
            }
            PageBytes::Whole(bytes) => {
                let next = bytes.split_to(bytes.len().min(AT_ONCE));
                Poll::Ready(Some(Ok(next)))
            }
            PageBytes::Streamed(body) => Pin::new(body).poll_next(cx),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use refract_http_serving::BodyBudget;

    use super::*;

    #[test]
    fn a_page_holds_its_room_until_it_is_sent() {
        let budget = BodyBudget::default();
        let room = budget.room_for_page(1024 * 1024).now_or_never();
        let content = PageContent::whole(Bytes::from(vec![b'a'; 150_000])).in_room(room);
        assert_eq!(budget.held_bytes(), 147 * 1024);
        let under_way =
            RequestUnderWay::begin(&actix_web::test::TestRequest::default().to_http_request());
        let mut body = content.sent_by(Payload::None, under_way);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let mut lengths = Vec::new();
        while let Poll::Ready(Some(Ok(bytes))) = Pin::new(&mut body).poll_next(&mut cx) {
            assert!(budget.held_bytes() > 0);
            lengths.push(bytes.len());
        }
        assert_eq!(lengths, [65_536, 65_536, 18_928]);
        assert_eq!(budget.held_bytes(), 0);
    }
}
