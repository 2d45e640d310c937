//! A request's id, client and trace, and the record of how it ended.

mod client_address;
mod record;

use std::fmt;

use actix_web::HttpRequest;
use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use refract_traces::{CallerTrace, RequestTrace, Traces};
use tracing::Span;
use uuid::Uuid;

pub use self::client_address::{ClientAddress, ClientNetwork, NotANetwork, TrustedProxies};
pub use self::record::{EndedRequest, RequestLine, RequestMetrics, RequestRecord, RequestRecorder};

/// The header with the request id, in requests and in responses.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// The longest id that is accepted from a caller, in characters.
const MOST_CHARS: usize = 128;

/// A request's id: 1 to 128 letters, digits, `.`, `_` or `-`.
#[derive(Clone, Debug)]
pub struct RequestId(Box<str>);

impl RequestId {
    /// The caller's id, or a new one if it is absent or invalid.
    pub fn of(headers: &HeaderMap) -> Self {
        let sent = headers
            .get(X_REQUEST_ID)
            .and_then(|value| value.to_str().ok());
        match sent {
            Some(id) if is_request_id(id) => Self(id.into()),
            Some(_) | None => Self(Uuid::now_v7().to_string().into_boxed_str()),
        }
    }

    /// The id as a header value.
    pub fn to_header_value(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).unwrap_or(HeaderValue::from_static(""))
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn is_request_id(text: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=MOST_CHARS).contains(&text.len()) && text.bytes().all(allowed)
}

/// Begins the trace of a request, as part of its caller's trace. `route` is the pattern of the
/// request's path; any name that is not a path means that no route matched.
pub(crate) fn begin_trace(
    traces: &Traces,
    request: &HttpRequest,
    route: &'static str,
) -> RequestTrace {
    let route = route.starts_with('/').then_some(route);
    traces.begin_request(request.method().as_str(), route, || {
        let headers = request.headers();
        CallerTrace::read(
            values(headers, "traceparent"),
            values(headers, "tracestate"),
        )
    })
}

/// The log span of a request: every log line within it has the request's id, and the ids of its
/// trace if there is one.
pub(crate) fn request_span(id: &RequestId, trace: &RequestTrace) -> Span {
    tracing::error_span!(
        "request",
        request_id = %id,
        trace_id = trace.trace_id().map(tracing::field::display),
        span_id = trace.span_id().map(tracing::field::display)
    )
}

/// The values of a header, in the order sent; a value that is not ASCII is read as empty.
fn values<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let sent = headers.get_all(name);
    sent.map(|value| value.to_str().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(sent: Option<&[u8]>) -> String {
        let mut headers = HeaderMap::new();
        if let Some(value) = sent {
            headers.insert(X_REQUEST_ID, HeaderValue::from_bytes(value).unwrap());
        }
        RequestId::of(&headers).to_string()
    }

    #[test]
    fn a_callers_id_is_kept() {
        let longest = "a".repeat(128);
        for id in ["7", "order-12.A_b", longest.as_str()] {
            assert_eq!(of(Some(id.as_bytes())), id);
        }
    }

    #[test]
    fn another_shape_gets_a_new_id() {
        let too_long = "a".repeat(129);
        for sent in [
            &b""[..],
            b"a b",
            b"a/b",
            b"\xc3\xa4",
            b"a\"b",
            too_long.as_bytes(),
        ] {
            let id = of(Some(sent));
            assert_ne!(id.as_bytes(), sent);
            assert!(is_request_id(&id));
        }
        assert!(is_request_id(&of(None)));
        assert_ne!(of(None), of(None));
    }
}
