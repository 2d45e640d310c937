//! Reads the answer to one request: its status first, then as much of its body as the status asks
//! for.

use std::error::Error as _;
use std::io::{self, ErrorKind};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::header::{CONTENT_LENGTH, HeaderMap, RETRY_AFTER};
use hyper::{Response, StatusCode};

use crate::failure::ModelFailure;
use crate::refusal;

/// Answers over this many bytes are refused.
const ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// A refusal over this many bytes is not searched for the parameter that it names.
const REFUSAL_BYTES: usize = 64 * 1024;

/// A model server's answer to one attempt.
pub(crate) enum ServerReply {
    /// Status 200, with its whole body.
    Answer(Bytes),
    /// A status after which a second attempt is worth while: 429 or any 5xx.
    TryAgain {
        status: u16,
        /// The header as it was sent.
        retry_after: Option<String>,
    },
}

/// Reads an answer whose head has come.
pub(super) async fn read(mut response: Response<Incoming>) -> Result<ServerReply, ModelFailure> {
    let status = response.status();
    if status == StatusCode::OK {
        let body = read_body(&mut response, ANSWER_BYTES).await?;
        return Ok(ServerReply::Answer(body));
    }
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        return Ok(ServerReply::TryAgain {
            status: status.as_u16(),
            retry_after: retry_after(response.headers()),
        });
    }
    if status.is_redirection() {
        return Err(ModelFailure::Redirect(status.as_u16()));
    }
    let status = status.as_u16();
    if !matches!(status, 400 | 422) {
        return Err(ModelFailure::Status(status));
    }
    let body = read_body(&mut response, REFUSAL_BYTES).await;
    let parameter = body.ok().and_then(|body| refusal::parameter(&body));
    Err(parameter.map_or(ModelFailure::Status(status), |parameter| {
        ModelFailure::ParameterRefused { parameter, status }
    }))
}

/// Why no answer came to a request that was sent.
pub(super) fn send_failure(error: &hyper::Error) -> ModelFailure {
    tracing::debug!(%error, "no answer came from the model server");
    if error.is_parse() {
        ModelFailure::NotHttp
    } else {
        ModelFailure::Disconnected
    }
}

fn retry_after(headers: &HeaderMap) -> Option<String> {
    headers.get(RETRY_AFTER)?.to_str().ok().map(str::to_owned)
}

/// Reads a body of up to `most` bytes.
async fn read_body(response: &mut Response<Incoming>, most: usize) -> Result<Bytes, ModelFailure> {
    let has_length = response.headers().contains_key(CONTENT_LENGTH);
    let mut read = BytesMut::new();
    while let Some(frame) = response.frame().await {
        let data = match frame {
            Ok(frame) => frame.into_data().unwrap_or_default(),
            // servers end chunks and TLS carelessly: the end of the connection ends such a body,
            // and the JSON shows whether it is whole
            Err(error) if !has_length && is_cut(&error) => break,
            Err(error) => return Err(body_failure(&error)),
        };
        if read.len() + data.len() > most {
            return Err(ModelFailure::TooLarge);
        }
        read.extend_from_slice(&data);
    }
    Ok(read.freeze())
}

fn body_failure(error: &hyper::Error) -> ModelFailure {
    tracing::debug!(%error, "the model server's answer could not be read");
    match io_kind(error) {
        Some(ErrorKind::InvalidData | ErrorKind::InvalidInput) => ModelFailure::NotHttp,
        Some(_) | None => ModelFailure::Disconnected,
    }
}

fn is_cut(error: &hyper::Error) -> bool {
    io_kind(error) == Some(ErrorKind::UnexpectedEof)
}

fn io_kind(error: &hyper::Error) -> Option<ErrorKind> {
    let source = error.source()?.downcast_ref::<io::Error>()?;
    Some(source.kind())
}
