//! What goes back: a result in its format or an error, with the headers that every answer has.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use actix_web::web::Bytes;
use refract_answering::ReadableResult;
use refract_domain::ids::ResultId;
use refract_lens_rendering::{Format, render};

use crate::error::{ApiError, ErrorReply};
use crate::request_id::{RequestId, X_REQUEST_ID};

const JSON: &str = "application/json; charset=utf-8";

/// An answer, not sent yet.
pub(crate) struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
    about: Option<About>,
}

/// The result that an answer is about, for the log.
#[derive(Clone)]
pub(crate) struct About {
    pub(crate) prism: String,
    pub(crate) result: ResultId,
}

impl Reply {
    /// A result that this call made or repeated: 200, or 502 when it failed (spec 4.1, 4.3).
    ///
    /// # Errors
    /// When it cannot be rendered.
    pub(crate) fn answered(result: &ReadableResult, format: Format) -> Result<Self, ApiError> {
        let status = if result.is_ok() {
            StatusCode::OK
        } else {
            StatusCode::BAD_GATEWAY
        };
        Self::result(status, result, format)
    }

    /// A result that was read: 200, whatever its own status (spec 4.2).
    ///
    /// # Errors
    /// When it cannot be rendered.
    pub(crate) fn read(result: &ReadableResult, format: Format) -> Result<Self, ApiError> {
        Self::result(StatusCode::OK, result, format)
    }

    fn result(
        status: StatusCode,
        result: &ReadableResult,
        format: Format,
    ) -> Result<Self, ApiError> {
        let mut body = Vec::new();
        render(format, &result.columns(), &result.view(), &mut body)?;
        let about = About {
            prism: result.prism_slug().to_owned(),
            result: result.id(),
        };
        Ok(Self {
            status,
            content_type: format.content_type(),
            body,
            about: Some(about),
        })
    }

    /// An error: JSON, whatever format was asked for (spec 2.7).
    pub(crate) fn error(error: &ApiError) -> Self {
        let ErrorReply { status, body } = error.reply();
        Self {
            status,
            content_type: JSON,
            body,
            about: None,
        }
    }

    /// The status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The result that it is about.
    pub(crate) fn about(&self) -> Option<&About> {
        self.about.as_ref()
    }

    /// The response. What was not read of the request goes along: see [`ReplyBody`].
    pub(crate) fn into_response(self, id: &RequestId, unread: Payload) -> HttpResponse {
        let body = ReplyBody {
            bytes: Some(Bytes::from(self.body)),
            _unread: unread,
        };
        HttpResponse::build(self.status)
            .insert_header((CONTENT_TYPE, HeaderValue::from_static(self.content_type)))
            .insert_header((CACHE_CONTROL, HeaderValue::from_static("no-store")))
            .insert_header((X_REQUEST_ID, id.to_header_value()))
            .body(BoxBody::new(body))
    }
}

/// The bytes of an answer, and the request's payload.
///
/// Actix reads a chunked payload that was dropped to its end, however long that is, before it
/// takes the next request; one that is still held at the end of the answer closes the connection.
struct ReplyBody {
    bytes: Option<Bytes>,
    _unread: Payload,
}

impl MessageBody for ReplyBody {
    type Error = Infallible;

    fn size(&self) -> BodySize {
        let length = self.bytes.as_ref().map_or(0, Bytes::len);
        BodySize::Sized(u64::try_from(length).unwrap_or(u64::MAX))
    }

    fn poll_next(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Bytes, Infallible>>> {
        Poll::Ready(self.get_mut().bytes.take().map(Ok))
    }
}

#[cfg(test)]
mod tests;
