//! Every error that a caller can see, with its status, code and message (spec 7). No other module
//! contains an error's status or code.

use std::io;

use actix_web::http::StatusCode;
use refract_domain::json::Malformed;
use refract_domain::limits::BODY_BYTES;
use refract_domain::problem::Problems;
use refract_domain::result::RetryError;
use refract_http_serving::{BodyReadError, Draining, Panicked};
use refract_service::CallError;
use serde::Serialize;

const VALIDATION_FAILED: &str = "validation_failed";
const BAD_REQUEST: &str = "bad_request";
const UNAUTHORIZED: &str = "unauthorized";
const NOT_FOUND: &str = "not_found";
const CONFLICT: &str = "conflict";
const INTERNAL_ERROR: &str = "internal_error";

const MALFORMED: &str = "Malformed request";
const UNAVAILABLE: &str = "Service Unavailable";
/// `Retry-After` of a draining node, in seconds: another node accepts the call immediately, and a
/// single node restarts within moments.
const RETRY_AFTER: u16 = 1;

/// Why a request gets an error instead of a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// The path, the query or the body breaks rules.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The body is not JSON, or a required body is absent.
    #[error("the body cannot be read: {0}")]
    MalformedBody(BodyFault),
    /// The body is over 1 MiB.
    #[error("the body is too large")]
    BodyTooLarge,
    /// The body's media type or encoding is not supported.
    #[error("the body's media type or encoding is not supported: {0}")]
    UnsupportedMediaType(MediaFault),
    /// The request has no bearer token.
    #[error("there is no bearer token")]
    NotAuthenticated,
    /// No route has this path and method.
    #[error("there is no such route")]
    RouteNotFound,
    /// The use case refused the call.
    #[error(transparent)]
    Refused(#[from] CallError),
    /// A result could not be rendered in the requested format: a bug.
    #[error("the result could not be rendered")]
    NotRendered(#[from] io::Error),
    /// The code panicked: a bug.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// The server is stopping.
    #[error(transparent)]
    Draining(#[from] Draining),
}

/// What is wrong with a body, said to the caller in `x-refract-hint`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyFault {
    /// The call needs a body, and none was sent as JSON.
    #[error("send a JSON object as the body, with `Content-Type: application/json`")]
    Absent,
    /// The bytes are not one JSON value in UTF-8.
    #[error(transparent)]
    NotJson(Malformed),
    /// The body ended early or did not arrive in time.
    #[error("the body did not arrive whole in time")]
    Incomplete,
}

/// What is wrong with a body's media type or encoding, said to the caller in `x-refract-hint`.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MediaFault {
    /// No media type, or one that no call reads.
    #[error("send the body with `Content-Type: application/json`")]
    Type,
    /// A content encoding, such as gzip.
    #[error("send the body without `Content-Encoding`")]
    Encoding,
}

impl From<BodyReadError> for ApiError {
    fn from(error: BodyReadError) -> Self {
        match error {
            BodyReadError::TooLarge => Self::BodyTooLarge,
            BodyReadError::Incomplete => Self::MalformedBody(BodyFault::Incomplete),
            BodyReadError::Draining(draining) => Self::Draining(draining),
        }
    }
}

/// The status and body of an error reply.
pub(crate) struct ErrorReply {
    /// The HTTP status.
    pub(crate) status: StatusCode,
    /// The body, compact JSON.
    pub(crate) body: Vec<u8>,
    /// `Retry-After` in seconds; `None` when a retry does not help.
    pub(crate) retry_after: Option<u16>,
    /// `x-refract-hint`: what to put right, where the specification's message is one for many faults.
    pub(crate) hint: Option<String>,
}

impl ApiError {
    /// The status and body of the error; the match follows the table of the specification's
    /// section 7.
    pub(crate) fn reply(&self) -> ErrorReply {
        let (status, code, message) = match self {
            Self::Invalid(problems) => (
                StatusCode::BAD_REQUEST,
                VALIDATION_FAILED,
                problems.to_string(),
            ),
            Self::Refused(CallError::Fields(mismatch)) => (
                StatusCode::BAD_REQUEST,
                VALIDATION_FAILED,
                mismatch.to_string(),
            ),
            Self::Refused(CallError::OverBudget(over)) => {
                (StatusCode::BAD_REQUEST, VALIDATION_FAILED, over.to_string())
            }
            Self::MalformedBody(_) => (StatusCode::BAD_REQUEST, BAD_REQUEST, MALFORMED.to_owned()),
            Self::NotAuthenticated => (
                StatusCode::UNAUTHORIZED,
                UNAUTHORIZED,
                "Authentication required".to_owned(),
            ),
            Self::Refused(CallError::InvalidApiKey) => (
                StatusCode::UNAUTHORIZED,
                UNAUTHORIZED,
                "Invalid API key".to_owned(),
            ),
            Self::Refused(CallError::PrismNotFound) => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Prism not found".to_owned(),
            ),
            Self::Refused(CallError::VersionNotFound) => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Prism version not found".to_owned(),
            ),
            Self::Refused(CallError::ResultNotFound) => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Result not found".to_owned(),
            ),
            Self::Refused(CallError::Retry(archived @ RetryError::PrismArchived)) => {
                (StatusCode::NOT_FOUND, NOT_FOUND, archived.to_string())
            }
            Self::RouteNotFound => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Route not found".to_owned(),
            ),
            Self::Refused(CallError::HeldByAnotherPrism(held)) => {
                (StatusCode::CONFLICT, CONFLICT, held.to_string())
            }
            Self::Refused(CallError::Retry(
                refusal @ (RetryError::NotFailed | RetryError::AlreadyRetried(_)),
            )) => (StatusCode::CONFLICT, CONFLICT, refusal.to_string()),
            Self::BodyTooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                BAD_REQUEST,
                MALFORMED.to_owned(),
            ),
            Self::UnsupportedMediaType(_) => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                BAD_REQUEST,
                MALFORMED.to_owned(),
            ),
            Self::Refused(CallError::Internal(_)) | Self::NotRendered(_) | Self::Panicked(_) => (
                StatusCode::INTERNAL_SERVER_ERROR,
                INTERNAL_ERROR,
                "Internal server error".to_owned(),
            ),
            Self::Draining(_) => return unavailable(),
        };
        let error = ErrorObject {
            code,
            message: &message,
        };
        ErrorReply {
            status,
            body: compact_json(&ErrorBody { error }),
            retry_after: None,
            hint: self.hint(),
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::MalformedBody(fault) => fault.to_string(),
            Self::BodyTooLarge => format!("a body has at most {BODY_BYTES} bytes"),
            Self::UnsupportedMediaType(fault) => fault.to_string(),
            Self::NotAuthenticated => {
                "send one header `Authorization: Bearer <key>`, Bearer with a capital B and one space after it"
                    .to_owned()
            }
            _ => return None,
        })
    }
}

fn unavailable() -> ErrorReply {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let body = UnavailableBody {
        error: UNAVAILABLE,
        message: UNAVAILABLE,
        status_code: status.as_u16(),
    };
    ErrorReply {
        status,
        body: compact_json(&body),
        retry_after: Some(RETRY_AFTER),
        hint: None,
    }
}

fn compact_json(body: &impl Serialize) -> Vec<u8> {
    // serialising strings and numbers cannot fail
    serde_json::to_vec(body).unwrap_or_default()
}

#[derive(Serialize)]
struct ErrorBody<'a> {
    error: ErrorObject<'a>,
}

#[derive(Serialize)]
struct ErrorObject<'a> {
    code: &'a str,
    message: &'a str,
}

#[derive(Serialize)]
struct UnavailableBody<'a> {
    error: &'a str,
    message: &'a str,
    #[serde(rename = "statusCode")]
    status_code: u16,
}

#[cfg(test)]
mod tests;
