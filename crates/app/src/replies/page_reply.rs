//! A handler's reply: a page, a fragment, a redirect or a file; and how its body is sent.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BodyStream, BoxBody, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{self, HeaderValue};
use actix_web::{HttpResponse, HttpResponseBuilder};
use bytes::Bytes;
use cookie::Cookie;
use futures_util::Stream;
use maud::Markup;
use refract_http_serving::{HeldRoom, RequestUnderWay};

/// Seconds until a retry of a temporary failure: enough for a node to restart and for waiting
/// sign-ins to finish.
const RETRY_AFTER_SECONDS: &str = "5";

/// A reply. The dispatcher adds the security headers.
pub(crate) struct PageReply {
    status: StatusCode,
    headers: Vec<(header::HeaderName, HeaderValue)>,
    content: PageContent,
}

impl PageReply {
    /// A page, or a fragment that a script inserts into a page.
    pub(crate) fn html(status: StatusCode, markup: Markup) -> Self {
        let bytes = Bytes::from(markup.into_string());
        let page = Self::new("text/html; charset=utf-8", PageContent::whole(bytes));
        page.with_status(status)
    }

    /// Redirects to another address of the app, with GET.
    pub(crate) fn see_other(address: &str) -> Self {
        let address = HeaderValue::from_str(address).unwrap_or(HeaderValue::from_static("/"));
        Self::text("text/plain; charset=utf-8", "")
            .with_status(StatusCode::SEE_OTHER)
            .with_header(header::LOCATION, address)
    }

    /// A text of this media type.
    pub(crate) fn text(media_type: &'static str, text: &'static str) -> Self {
        let bytes = Bytes::from_static(text.as_bytes());
        Self::new(media_type, PageContent::whole(bytes))
    }

    /// A file to download. `name` consists of letters, digits, `-`, `_` and `.`.
    pub(crate) fn file(name: &str, media_type: &'static str, bytes: Vec<u8>) -> Self {
        let file = Self::new(media_type, PageContent::whole(bytes.into()));
        file.into_attachment(name)
    }

    /// A file to download, sent while it is produced.
    pub(crate) fn streamed_file<E>(
        name: &str,
        media_type: &'static str,
        chunks: impl Stream<Item = Result<Bytes, E>> + 'static,
    ) -> Self
    where
        E: Into<Box<dyn Error>> + 'static,
    {
        Self::new(media_type, PageContent::streamed(chunks)).into_attachment(name)
    }

    /// Adds the cookies of a sign-in.
    pub(crate) fn with_cookies(self, cookies: &[Cookie<'_>]) -> Self {
        cookies.iter().fold(self, Self::with_cookie)
    }

    /// Adds a cookie.
    pub(crate) fn with_cookie(mut self, cookie: &Cookie<'_>) -> Self {
        // a token consists of letters and digits, so the header is always valid
        if let Ok(value) = HeaderValue::from_str(&cookie.to_string()) {
            self.headers.push((header::SET_COOKIE, value));
        }
        self
    }

    /// Changes the status.
    pub(crate) fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Adds a header; it replaces the dispatcher's header with this name.
    pub(crate) fn with_header(mut self, name: header::HeaderName, value: HeaderValue) -> Self {
        self.headers.push((name, value));
        self
    }

    /// Sets `Retry-After` in seconds, if known.
    pub(crate) fn with_retry_after(self, seconds: Option<u64>) -> Self {
        match seconds {
            Some(seconds) => self.with_header(header::RETRY_AFTER, HeaderValue::from(seconds)),
            None => self,
        }
    }

    fn new(media_type: &'static str, content: PageContent) -> Self {
        Self {
            status: StatusCode::OK,
            headers: vec![(header::CONTENT_TYPE, HeaderValue::from_static(media_type))],
            content,
        }
    }

    /// The reply with a page made from a form; it keeps this memory reservation until it is sent.
    pub(crate) fn in_room(self, room: Option<HeldRoom>) -> Self {
        Self {
            content: self.content.in_room(room),
            ..self
        }
    }

    fn into_attachment(self, name: &str) -> Self {
        let disposition = format!("attachment; filename=\"{name}\"");
        let nameless = HeaderValue::from_static("attachment");
        let disposition = HeaderValue::from_str(&disposition).unwrap_or(nameless);
        self.with_header(header::CONTENT_DISPOSITION, disposition)
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The response, with the headers in `policy` that the reply does not set itself. It holds the
    /// request and its payload until it is sent.
    pub(crate) fn into_response(
        self,
        policy: impl IntoIterator<Item = (header::HeaderName, HeaderValue)>,
        unread: Payload,
        under_way: RequestUnderWay,
    ) -> HttpResponse {
        let mut response: HttpResponseBuilder = HttpResponse::build(self.status);
        for header in policy {
            response.insert_header(header);
        }
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            response.insert_header((header::RETRY_AFTER, RETRY_AFTER_SECONDS));
        }
        for (name, value) in self.headers {
            if name == header::SET_COOKIE {
                response.append_header((name, value));
            } else {
                response.insert_header((name, value));
            }
        }
        response.body(BoxBody::new(self.content.sent_by(unread, under_way)))
    }
}

/// The most bytes handed to the HTTP server at once. The server copies these bytes, and a page of
/// many MiB must not be in memory twice.
const AT_ONCE: usize = 64 * 1024;

/// The content of a reply, with its memory reservation.
struct PageContent {
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
    fn streamed<E>(chunks: impl Stream<Item = Result<Bytes, E>> + 'static) -> Self
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
    fn sent_by(self, unread: Payload, under_way: RequestUnderWay) -> PageBody {
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
