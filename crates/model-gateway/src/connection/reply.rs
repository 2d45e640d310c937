//! Reads the answer to one request: what its head says about the request, the status, then as much of
//! the body as the status needs.

use std::error::Error as _;
use std::io::{self, ErrorKind};
use std::time::{Duration, SystemTime};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_ENCODING, CONTENT_LENGTH, HeaderMap, TRANSFER_ENCODING};
use hyper::{Response, StatusCode};
use refract_domain::result::Cost;
use serde::de::IgnoredAny;
use tokio::time::timeout;

use super::transport;
use crate::error::{ModelError, ServerError, Unreachable, inside_answer, retry_after};

/// Largest answer that is read, in bytes; a larger one is an error.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Largest refusal that is searched for its reason, in bytes.
const REFUSAL_BYTES: usize = 64 * 1024;
/// What some servers write before their JSON, which readers may ignore (RFC 8259, section 8.1).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// Longest wait for the body of a refusal whose status alone gives the reason: a slow body must not
/// delay the second attempt.
const REFUSAL_WAIT: Duration = Duration::from_millis(250);

/// A model server's answer to one attempt.
pub(crate) enum ServerReply {
    /// Status 200, with its whole body.
    Answer(Bytes),
    /// Any other status, also one inside an answer with status 200.
    CallError(ServerError),
}

impl ServerReply {
    /// The body, as far as it was read.
    pub(crate) fn body(&self) -> &Bytes {
        match self {
            Self::Answer(body) => body,
            Self::CallError(refusal) => &refusal.body,
        }
    }
}

/// Reads an answer after its head has arrived.
pub(super) async fn read(mut response: Response<Incoming>) -> Result<ServerReply, ModelError> {
    let status = response.status();
    let retry_after = retry_after::asked(response.headers(), SystemTime::now());
    if status == StatusCode::OK {
        let body = read_body(&mut response, ANSWER_BYTES).await?;
        // some say so of a body that they do not compress
        if response.headers().contains_key(CONTENT_ENCODING) && str::from_utf8(&body).is_err() {
            return Err(ModelError::Compressed);
        }
        return Ok(match inside_answer::refusal(&body, retry_after) {
            Some(refusal) => ServerReply::CallError(refusal),
            None => ServerReply::Answer(body),
        });
    }
    let body = read_refusal(status, &mut response).await;
    let refusal = ServerError::new(status.as_u16(), retry_after, body);
    Ok(ServerReply::CallError(refusal))
}

/// Reads the body of a refusal; empty if the body is too large or unreadable.
async fn read_refusal(status: StatusCode, response: &mut Response<Incoming>) -> Bytes {
    let reading = read_body(response, REFUSAL_BYTES);
    let body = match status {
        // only the bodies of these refusals show what to change in the next request
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY => reading.await,
        _ => timeout(REFUSAL_WAIT, reading)
            .await
            .unwrap_or(Ok(Bytes::new())),
    };
    body.unwrap_or_default()
}

/// Maps an error after sending to the reason why no answer came.
pub(super) fn send_failure(error: &hyper::Error) -> ModelError {
    tracing::debug!(%error, "no answer came from the model server");
    let cause = io_error(error);
    if cause.is_some_and(transport::is_about_client_certificate) {
        // with TLS 1.3 a server looks at it after the handshake
        ModelError::Unreachable(Unreachable::ClientCertificate)
    } else if error.is_parse() {
        ModelError::NotHttp
    } else {
        ModelError::Disconnected
    }
}

/// Reads a body of up to `most` bytes.
async fn read_body(response: &mut Response<Incoming>, most: usize) -> Result<Bytes, ModelError> {
    let headers = response.headers();
    let has_length = headers.contains_key(CONTENT_LENGTH);
    let mut ends_with_connection = !has_length && !headers.contains_key(TRANSFER_ENCODING);
    let mut read = BytesMut::new();
    while let Some(frame) = response.frame().await {
        let data = match frame {
            Ok(frame) => frame.into_data().unwrap_or_default(),
            // servers end chunks and TLS carelessly: such a body ends with the connection, and its
            // JSON shows whether it is complete
            Err(error) if !has_length && is_cut(&error) => {
                ends_with_connection = true;
                break;
            }
            Err(error) => return Err(body_failure(&error)),
        };
        if read.len() + data.len() > most {
            return Err(ModelError::TooLarge);
        }
        read.extend_from_slice(&data);
    }
    if ends_with_connection && is_half(&read) {
        return Err(ModelError::Disconnected);
    }
    let body = read.freeze();
    Ok(match body.strip_prefix(BYTE_ORDER_MARK) {
        Some(json) => body.slice_ref(json),
        None => body,
    })
}

/// Whether the JSON in a body is cut off.
fn is_half(body: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(body).is_err_and(|error| error.is_eof())
}

fn body_failure(error: &hyper::Error) -> ModelError {
    tracing::debug!(%error, "the model server's answer could not be read");
    match io_kind(error) {
        Some(ErrorKind::InvalidData | ErrorKind::InvalidInput) => ModelError::NotHttp,
        Some(_) | None => ModelError::Disconnected,
    }
}

fn is_cut(error: &hyper::Error) -> bool {
    io_kind(error) == Some(ErrorKind::UnexpectedEof)
}

/// The kind of the input or output error under an error of hyper.
pub(super) fn io_kind(error: &hyper::Error) -> Option<ErrorKind> {
    io_error(error).map(io::Error::kind)
}

fn io_error(error: &hyper::Error) -> Option<&io::Error> {
    error.source()?.downcast_ref()
}

/// The headers in which hosts send the id of a request; the first one that is there counts.
const REQUEST_IDS: [&str; 4] = [
    "x-typesafe-request-id",
    "x-request-id",
    "request-id",
    "cf-ray",
];
/// The header in which `LiteLLM` sends the cost of a request.
const COST: &str = "x-litellm-response-cost";
/// Length in characters at which an id is cut, since every result stores one.
const REQUEST_ID_CHARS: usize = 200;

/// What a head says about its request, which is at least one of these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ReplyHead {
    pub(crate) request_id: Option<String>,
    pub(crate) cost: Option<Cost>,
}

impl ReplyHead {
    /// Reads the headers of an answer; `None` if they say nothing. Boxed, since a waiting call
    /// reserves room for it.
    pub(super) fn read(headers: &HeaderMap) -> Option<Box<Self>> {
        let mut ids = REQUEST_IDS.iter().filter_map(|name| headers.get(*name));
        let request_id = ids.find_map(|id| printable(id.as_bytes()));
        let cost = headers.get(COST).and_then(|cost| cost.to_str().ok());
        let cost = cost.and_then(|cost| Cost::parse(cost.trim()));
        let has_any = request_id.is_some() || cost.is_some();
        has_any.then(|| Box::new(Self { request_id, cost }))
    }
}

/// The printable ASCII of an id: other bytes would reach a terminal, and the database may refuse
/// them. `None` if nothing is left.
fn printable(id: &[u8]) -> Option<String> {
    let printable = id.iter().filter(|byte| (b' '..=b'~').contains(*byte));
    let kept: String = printable.map(|byte| char::from(*byte)).collect();
    let kept: String = kept.trim().chars().take(REQUEST_ID_CHARS).collect();
    (!kept.is_empty()).then_some(kept)
}

#[cfg(test)]
mod tests {
    use hyper::header::{HeaderName, HeaderValue};

    use super::*;

    fn read(headers: &[(&'static str, &[u8])]) -> Option<ReplyHead> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            let value = HeaderValue::from_bytes(value).unwrap();
            map.insert(HeaderName::from_static(name), value);
        }
        ReplyHead::read(&map).map(|head| *head)
    }

    #[test]
    fn the_id_of_the_host_comes_before_those_of_what_is_between() {
        let mut headers: Vec<(&'static str, &[u8])> = vec![
            ("cf-ray", b"8f-FRA"),
            ("request-id", b"req_3"),
            ("x-request-id", b"req_2"),
            ("x-typesafe-request-id", b"req_1"),
        ];
        for expected in ["req_1", "req_2", "req_3", "8f-FRA"] {
            let head = read(&headers).unwrap();
            assert_eq!(head.request_id.as_deref(), Some(expected));
            headers.pop();
        }
        assert_eq!(read(&headers), None);
    }

    #[test]
    fn an_id_is_kept_as_far_as_it_can_be_shown_and_saved() {
        let long = [b'x'; 300];
        for (sent, kept) in [
            (&b" a b\tc\xff\xc3\xa9 "[..], Some("a bc".to_owned())),
            (&long[..], Some("x".repeat(200))),
            (&b""[..], None),
            (&b"\xff\t"[..], None),
        ] {
            let head = read(&[("x-request-id", sent), ("x-litellm-response-cost", b"1")]);
            assert_eq!(head.unwrap().request_id, kept, "{sent:?}");
        }
        // an id that cannot be shown does not hide the next one
        let head = read(&[("x-request-id", b"\xff"), ("cf-ray", b"8f")]).unwrap();
        assert_eq!(head.request_id.as_deref(), Some("8f"));
    }

    #[test]
    fn a_cost_is_read_exactly_or_not_at_all() {
        for (sent, kept) in [
            (&b"2.1e-05"[..], Cost::parse("0.000021")),
            (&b" 0.0 "[..], Some(Cost::default())),
            (&b"None"[..], None),
            (&b"-1"[..], None),
        ] {
            let head = read(&[("x-litellm-response-cost", sent), ("cf-ray", b"8f")]);
            assert_eq!(head.unwrap().cost, kept, "{sent:?}");
        }
    }
}
