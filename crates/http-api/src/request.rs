//! Reads a request: its key, its body and its call. The use case checks whether an account has the
//! key (spec 5).

pub(crate) mod call;

use std::net::IpAddr;
use std::time::Duration;

use actix_web::http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, TRANSFER_ENCODING,
};
use refract_domain::json::Json;
use refract_domain::limits::BODY_BYTES;
use refract_http_serving::{BodyLimits, HeldRoom, SentBody, declared_length};
use refract_identity::keys::{ApiKey, CallKeyId, PresentedKey};

use crate::error::{ApiError, BodyFault, MediaFault};

/// What is known of a call's client before its key is read.
pub(crate) struct CallOrigin {
    /// Receives the key's id once the key is found.
    pub(crate) key: CallKeyId,
    /// The client's address, behind trusted proxies.
    pub(crate) client: Option<IpAddr>,
}

/// Reads the bearer token as the key of a call.
///
/// # Errors
/// [`ApiError::NotAuthenticated`] unless there is exactly one header with a bearer token; see
/// [`read`].
pub(crate) fn presented(headers: &HeaderMap, origin: CallOrigin) -> Result<PresentedKey, ApiError> {
    let CallOrigin { key: id, client } = origin;
    read(headers).map(|key| PresentedKey::new(key, id, client))
}

/// Reads the bearer token: `None` when the token does not have the shape of a key.
///
/// # Errors
/// [`ApiError::NotAuthenticated`] unless there is exactly one header, and its value is `Bearer`,
/// one space and one or more characters without white space. Two headers are refused, because they
/// may be of two callers.
fn read(headers: &HeaderMap) -> Result<Option<ApiKey>, ApiError> {
    let mut sent = headers.get_all(AUTHORIZATION);
    let (Some(value), None) = (sent.next(), sent.next()) else {
        return Err(ApiError::NotAuthenticated);
    };
    let token = value
        .as_bytes()
        .strip_prefix(b"Bearer ")
        .unwrap_or_default();
    let token = String::from_utf8_lossy(token);
    if token.is_empty() || token.contains(char::is_whitespace) {
        return Err(ApiError::NotAuthenticated);
    }
    Ok(ApiKey::parse(&token))
}

/// Limits on a body. One copy: its bytes are dropped once its text is read.
const LIMITS: BodyLimits = BodyLimits {
    bytes: BODY_BYTES,
    arrival: Duration::from_secs(30),
    copies: 1,
};

/// A body as it arrived; its syntax is not checked yet.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ReceivedBody {
    /// Neither a body nor a media type.
    Absent,
    /// Plain text, which no endpoint reads.
    PlainText,
    /// Bytes with the media type of JSON.
    Json(Vec<u8>),
}

impl ReceivedBody {
    /// The body's JSON value, for an endpoint that needs one.
    ///
    /// # Errors
    /// [`ApiError::MalformedBody`] when the body is not a JSON value.
    pub(crate) fn json(&self) -> Result<Json<'_>, ApiError> {
        match self {
            Self::Absent | Self::PlainText => Err(ApiError::MalformedBody(BodyFault::Absent)),
            Self::Json(bytes) => {
                // a byte order mark may be ignored (RFC 8259, 8.1)
                let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
                Json::parse(text).map_err(|at| ApiError::MalformedBody(BodyFault::NotJson(at)))
            }
        }
    }

    /// Checks a body that the endpoint does not use.
    ///
    /// # Errors
    /// [`ApiError::MalformedBody`] when the media type is JSON and the bytes are not.
    pub(crate) fn ignore(&self) -> Result<(), ApiError> {
        match self {
            Self::Absent | Self::PlainText => Ok(()),
            Self::Json(_) => self.json().map(drop),
        }
    }
}

/// Reads the body of a request that may have one. The returned room is for its bytes and for the
/// values read from them.
///
/// # Errors
/// [`ApiError::UnsupportedMediaType`] before anything is read; [`ApiError::BodyTooLarge`] by the
/// declared length or at the first byte over the limit; [`ApiError::MalformedBody`] when the body
/// ends early or does not arrive in time.
pub(crate) async fn read_body(
    headers: &HeaderMap,
    body: SentBody<'_>,
) -> Result<(ReceivedBody, Option<HeldRoom>), ApiError> {
    let media_type = MediaType::of(headers)?;
    refuse_encodings(headers)?;
    if let MediaType::Absent = media_type {
        return Ok((ReceivedBody::Absent, None));
    }
    let arrived = body.read(headers, LIMITS).await?;
    Ok(match media_type {
        MediaType::Json => (ReceivedBody::Json(arrived.bytes), arrived.room),
        MediaType::PlainText | MediaType::Absent => (ReceivedBody::PlainText, None),
    })
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
                Err(ApiError::UnsupportedMediaType(MediaFault::Type))
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
        Err(ApiError::UnsupportedMediaType(MediaFault::Type))
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
        Err(ApiError::UnsupportedMediaType(MediaFault::Encoding))
    }
}

fn is_identity_name(name: &str) -> bool {
    name.eq_ignore_ascii_case("identity")
}

#[cfg(test)]
mod tests;
