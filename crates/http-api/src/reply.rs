//! The reply to a request: a result in a format, or an error, with the headers of every response.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::HttpResponse;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue, RETRY_AFTER};
use actix_web::web::Bytes;
use refract_domain::ids::ResultId;
use refract_http_serving::{RequestId, RequestUnderWay, X_REQUEST_ID};
use refract_lens_rendering::{Format, render};
use refract_service::results::ReadableResult;

use crate::error::{ApiError, ErrorReply};

/// The header that says what to put right where the specification has one message for many faults.
const X_REFRACT_HINT: HeaderName = HeaderName::from_static("x-refract-hint");

const JSON: &str = "application/json; charset=utf-8";

/// A reply that is ready to be sent.
pub(crate) struct Reply {
    status: StatusCode,
    content_type: &'static str,
    body: Vec<u8>,
    subject: Option<ReplySubject>,
    retry_after: Option<u16>,
    hint: Option<String>,
}

/// The result in a reply, and its prism, for the log.
#[derive(Clone)]
pub(crate) struct ReplySubject {
    /// The prism's slug.
    pub(crate) prism: String,
    /// The result's id.
    pub(crate) result: ResultId,
}

impl Reply {
    /// The reply to a create or a retry: 200, or 502 when the result failed (spec 4.1, 4.3).
    ///
    /// # Errors
    /// When the result cannot be rendered.
    pub(crate) fn answered(result: &ReadableResult, format: Format) -> Result<Self, ApiError> {
        let status = if result.is_ok() {
            StatusCode::OK
        } else {
            StatusCode::BAD_GATEWAY
        };
        Self::result(status, result, format)
    }

    /// The reply to a read: 200, also for a failed result (spec 4.2).
    ///
    /// # Errors
    /// When the result cannot be rendered.
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
        let subject = ReplySubject {
            prism: result.prism_slug().to_owned(),
            result: result.id(),
        };
        Ok(Self {
            status,
            content_type: format.content_type(),
            body,
            subject: Some(subject),
            retry_after: None,
            hint: None,
        })
    }

    /// The reply for an error: JSON in every format (spec 2.7).
    pub(crate) fn error(error: &ApiError) -> Self {
        let ErrorReply {
            status,
            body,
            retry_after,
            hint,
        } = error.reply();
        Self {
            status,
            content_type: JSON,
            body,
            subject: None,
            retry_after,
            hint,
        }
    }

    /// The HTTP status.
    pub(crate) fn status(&self) -> StatusCode {
        self.status
    }

    /// The result in the reply and its prism; `None` for an error.
    pub(crate) fn subject(&self) -> Option<&ReplySubject> {
        self.subject.as_ref()
    }

    /// The response. It keeps the request and its payload until it is sent: see [`ReplyBody`].
    pub(crate) fn into_response(
        self,
        id: &RequestId,
        unread: Payload,
        under_way: RequestUnderWay,
    ) -> HttpResponse {
        let body = ReplyBody {
            bytes: Some(Bytes::from(self.body)),
            _unread: unread,
            _under_way: under_way,
        };
        let mut response = HttpResponse::build(self.status);
        if let Some(seconds) = self.retry_after {
            response.insert_header((RETRY_AFTER, HeaderValue::from(seconds)));
        }
        if let Some(hint) = self.hint {
            response.insert_header((X_REFRACT_HINT, hint));
        }
        response
            .insert_header((CONTENT_TYPE, HeaderValue::from_static(self.content_type)))
            .insert_header((CACHE_CONTROL, HeaderValue::from_static("no-store")))
            .insert_header((X_REQUEST_ID, id.to_header_value()))
            .body(BoxBody::new(body))
    }
}

/// The bytes of a response, with the request and its payload.
///
/// If a chunked payload is dropped, actix reads the rest of it, however long, before the next
/// request. If the payload still exists when the response ends, actix closes the connection
/// instead.
struct ReplyBody {
    bytes: Option<Bytes>,
    _unread: Payload,
    _under_way: RequestUnderWay,
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
