//! Reads a request's body: media type, then encoding, size and syntax (readings, "Requests").

use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, TRANSFER_ENCODING,
};
use futures_util::StreamExt as _;
use refract_domain::json::Json;
use refract_domain::limits::BODY_BYTES;

use crate::error::ApiError;

/// How long a body may take to arrive; a client that stops sending must not hold its connection.
const ARRIVAL: Duration = Duration::from_secs(30);

/// The largest body that is read and dropped after a reply that did not need it.
const DISCARDED_BYTES: usize = 64 * 1024;
/// How long a body that is only dropped may take to arrive: most come with the head.
const DISCARDED_ARRIVAL: Duration = Duration::from_millis(100);

/// A body as it arrived; its syntax is not checked yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReceivedBody {
    /// Neither a body nor a media type.
    Absent,
    /// Plain text, which no endpoint reads.
    PlainText,
    /// Bytes whose media type says one JSON value.
    Json(Vec<u8>),
}

impl ReceivedBody {
    /// The body's JSON value, for an endpoint that needs one.
    ///
    /// # Errors
    /// [`ApiError::MalformedBody`] when the body is no JSON value.
    pub(crate) fn json(&self) -> Result<Json<'_>, ApiError> {
        match self {
            Self::Absent | Self::PlainText => Err(ApiError::MalformedBody),
            Self::Json(bytes) => Json::parse(bytes).map_err(|_| ApiError::MalformedBody),
        }
    }

    /// Checks a body that the endpoint does not use.
    ///
    /// # Errors
    /// [`ApiError::MalformedBody`] when the media type says JSON and the bytes are not JSON.
    pub(crate) fn ignore(&self) -> Result<(), ApiError> {
        match self {
            Self::Absent | Self::PlainText => Ok(()),
            Self::Json(_) => self.json().map(drop),
        }
    }
}

/// Reads the body of a request that may have one.
///
/// # Errors
/// [`ApiError::UnsupportedMediaType`] before anything is read, [`ApiError::BodyTooLarge`] from the
/// declared length or at the first byte over the limit, and [`ApiError::MalformedBody`] when the
/// body ends early or does not arrive in time.
pub(crate) async fn read(
    headers: &HeaderMap,
    payload: &mut Payload,
) -> Result<ReceivedBody, ApiError> {
    let media_type = MediaType::of(headers)?;
    refuse_encodings(headers)?;
    if declared_length(headers).is_some_and(|length| length > BODY_BYTES) {
        return Err(ApiError::BodyTooLarge);
    }
    match media_type {
        MediaType::Absent => Ok(ReceivedBody::Absent),
        MediaType::PlainText => read_bytes(payload).await.map(|_| ReceivedBody::PlainText),
        MediaType::Json => read_bytes(payload).await.map(ReceivedBody::Json),
    }
}

enum MediaType {
    Absent,
    PlainText,
    Json,
}

impl MediaType {
    fn of(headers: &HeaderMap) -> Result<Self, ApiError> {
        let Some(value) = headers.get(CONTENT_TYPE) else {
            let has_body = headers.contains_key(TRANSFER_ENCODING)
                || declared_length(headers).is_some_and(|length| length > 0);
            return if has_body {
                Err(ApiError::UnsupportedMediaType)
            } else {
                Ok(Self::Absent)
            };
        };
        let value = value.to_str().unwrap_or_default();
        let essence = value.split(';').next().unwrap_or_default().trim();
        if essence.eq_ignore_ascii_case("application/json") {
            return Ok(Self::Json);
        }
        if essence.eq_ignore_ascii_case("text/plain") {
            return Ok(Self::PlainText);
        }
        Err(ApiError::UnsupportedMediaType)
    }
}

fn refuse_encodings(headers: &HeaderMap) -> Result<(), ApiError> {
    let is_identity = |name: &str| name.trim().is_empty() || is_identity_name(name.trim());
    let plain = headers.get_all(CONTENT_ENCODING).all(|value| {
        value
            .to_str()
            .is_ok_and(|names| names.split(',').all(is_identity))
    });
    if plain {
        Ok(())
    } else {
        Err(ApiError::UnsupportedMediaType)
    }
}

fn is_identity_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("identity")
}

/// The value of `Content-Length`. Actix has refused values that are no number; a number beyond
/// `usize` is over every limit.
fn declared_length(headers: &HeaderMap) -> Option<usize> {
    let value = headers.get(CONTENT_LENGTH)?.to_str().ok()?;
    Some(value.parse().unwrap_or(usize::MAX))
}

/// Reads and drops a small body that the reply did not need, so that the connection can take the
/// next request. A body that is large, slow or without a length stays unread, and the connection is
/// closed. A body that was read already leaves nothing to drop.
pub(crate) async fn discard(headers: &HeaderMap, payload: &mut Payload) {
    if declared_length(headers).is_none_or(|length| length > DISCARDED_BYTES) {
        return;
    }
    let to_its_end = async { while let Some(Ok(_)) = payload.next().await {} };
    let _ = tokio::time::timeout(DISCARDED_ARRIVAL, to_its_end).await;
}

async fn read_bytes(payload: &mut Payload) -> Result<Vec<u8>, ApiError> {
    let mut bytes = Vec::new();
    let arrival = async {
        while let Some(chunk) = payload.next().await {
            let chunk = chunk.map_err(|_| ApiError::MalformedBody)?;
            if bytes.len() + chunk.len() > BODY_BYTES {
                return Err(ApiError::BodyTooLarge);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(())
    };
    tokio::time::timeout(ARRIVAL, arrival)
        .await
        .map_err(|_| ApiError::MalformedBody)??;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
