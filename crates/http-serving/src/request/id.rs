//! The id of a request, which is logged and sent back as `x-request-id` (readings).

use std::fmt;

use actix_web::http::header::{HeaderMap, HeaderName, HeaderValue};
use uuid::Uuid;

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
