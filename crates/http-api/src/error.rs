//! Every error that a caller can see: its status, code and message (spec 7). Nothing else knows them.

use std::error::Error;
use std::fmt::Write as _;
use std::io;

use actix_web::http::StatusCode;
use refract_answering::Refusal;
use refract_domain::problem::Problems;
use refract_domain::result::RetryRefusal;
use serde::Serialize;

const VALIDATION_FAILED: &str = "validation_failed";
const BAD_REQUEST: &str = "bad_request";
const UNAUTHORIZED: &str = "unauthorized";
const NOT_FOUND: &str = "not_found";
const CONFLICT: &str = "conflict";
const INTERNAL_ERROR: &str = "internal_error";

const MALFORMED: &str = "Malformed request";
const UNAVAILABLE: &str = "Service Unavailable";

/// Why a request got no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ApiError {
    /// Path, `format` or body break rules.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The body is no JSON, or there is none where there must be one.
    #[error("the body cannot be read")]
    MalformedBody,
    /// The body is over 1 MiB.
    #[error("the body is too large")]
    BodyTooLarge,
    /// The body is of a type or encoding that is not read here.
    #[error("the body is of another type")]
    UnsupportedMediaType,
    /// There is no bearer token.
    #[error("there is no bearer token")]
    NotAuthenticated,
    /// No such path or method.
    #[error("there is no such route")]
    RouteNotFound,
    /// The use case refused the call.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A result could not be written in its format: a bug.
    #[error("the result could not be written")]
    NotRendered(#[from] io::Error),
    /// The code panicked: a bug.
    #[error("the code panicked")]
    Panicked,
    /// The server stops.
    #[error("the server is draining")]
    Draining,
}

/// An error as it is sent.
pub(crate) struct ErrorReply {
    /// The status.
    pub(crate) status: StatusCode,
    /// Compact JSON.
    pub(crate) body: Vec<u8>,
}

impl ApiError {
    /// Status and body, in the order of the specification's section 7.
    pub(crate) fn reply(&self) -> ErrorReply {
        let (status, code, message) = match self {
            Self::Invalid(problems) => (
                StatusCode::BAD_REQUEST,
                VALIDATION_FAILED,
                problems.to_string(),
            ),
            Self::Refused(Refusal::Fields(mismatch)) => (
                StatusCode::BAD_REQUEST,
                VALIDATION_FAILED,
                mismatch.to_string(),
            ),
            Self::Refused(Refusal::OverBudget(over)) => {
                (StatusCode::BAD_REQUEST, VALIDATION_FAILED, over.to_string())
            }
            Self::MalformedBody => (StatusCode::BAD_REQUEST, BAD_REQUEST, MALFORMED.to_owned()),
            Self::NotAuthenticated => (
                StatusCode::UNAUTHORIZED,
                UNAUTHORIZED,
                "Authentication required".to_owned(),
            ),
            Self::Refused(Refusal::InvalidApiKey) => (
                StatusCode::UNAUTHORIZED,
                UNAUTHORIZED,
                "Invalid API key".to_owned(),
            ),
            Self::Refused(Refusal::PrismNotFound) => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Prism not found".to_owned(),
            ),
            Self::Refused(Refusal::VersionNotFound) => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Prism version not found".to_owned(),
            ),
            Self::Refused(Refusal::ResultNotFound) => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Result not found".to_owned(),
            ),
            Self::Refused(Refusal::Retry(archived @ RetryRefusal::PrismArchived)) => {
                (StatusCode::NOT_FOUND, NOT_FOUND, archived.to_string())
            }
            Self::RouteNotFound => (
                StatusCode::NOT_FOUND,
                NOT_FOUND,
                "Route not found".to_owned(),
            ),
            Self::Refused(Refusal::HeldByAnotherPrism(held)) => {
                (StatusCode::CONFLICT, CONFLICT, held.to_string())
            }
            Self::Refused(Refusal::Retry(
                refusal @ (RetryRefusal::NotFailed | RetryRefusal::AlreadyRetried(_)),
            )) => (StatusCode::CONFLICT, CONFLICT, refusal.to_string()),
            Self::BodyTooLarge => (
                StatusCode::PAYLOAD_TOO_LARGE,
                BAD_REQUEST,
                MALFORMED.to_owned(),
            ),
            Self::UnsupportedMediaType => (
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                BAD_REQUEST,
                MALFORMED.to_owned(),
            ),
            Self::Refused(Refusal::Internal(_)) | Self::NotRendered(_) | Self::Panicked => (
                StatusCode::INTERNAL_SERVER_ERROR,
                INTERNAL_ERROR,
                "Internal server error".to_owned(),
            ),
            Self::Draining => return unavailable(),
        };
        let error = ErrorObject {
            code,
            message: &message,
        };
        ErrorReply {
            status,
            body: compact_json(&ErrorBody { error }),
        }
    }
}

/// The words of an error and of what caused it, for the log.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        // writing to a string cannot fail
        let _ = write!(words, ": {error}");
        cause = error.source();
    }
    words
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
    }
}

fn compact_json(body: &impl Serialize) -> Vec<u8> {
    // strings and numbers can always be written
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
