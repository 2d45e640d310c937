//! The three routes, matched by method and raw path, and their handlers: each reads its request, runs
//! the use case and replies. A use case that asks the model continues when its client disconnects.
//!
//! Actix decodes a path before matching and keeps some escapes, but `{prism}` must be decoded fully
//! and once (readings). So the raw path is split here, and its parts stay percent-encoded.

use std::rc::Rc;

use actix_web::HttpRequest;
use actix_web::http::Method;
use futures_util::FutureExt as _;
use refract_http_serving::{CallInFlight, HeldRoom, SentBody, with_causes};
use refract_lens_rendering::Format;
use refract_service::results::CreateCall;
use refract_service::{CallError, Refract};

use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::{self, CallOrigin, call};

/// The route of a request, with its path parameter still percent-encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route<'a> {
    /// `POST /v1/prisms/{prism}/results` (spec 4.1).
    CreateResult { prism: &'a str },
    /// `GET /v1/results/{result_id}` (spec 4.2).
    ReadResult { result_id: &'a str },
    /// `POST /v1/results/{result_id}/retry` (spec 4.3).
    RetryResult { result_id: &'a str },
    /// Any other path or method, including `HEAD`, `OPTIONS` and a trailing slash.
    Unknown,
}

impl<'a> Route<'a> {
    /// Finds the route for a method and a raw path.
    pub(crate) fn find(method: &Method, path: &'a str) -> Self {
        let Some(path) = path.strip_prefix("/v1/") else {
            return Self::Unknown;
        };
        let mut segments = path.split('/');
        let parts = [
            segments.next(),
            segments.next(),
            segments.next(),
            segments.next(),
        ];
        match (method, parts) {
            (&Method::POST, [Some("prisms"), Some(prism), Some("results"), None])
                if !prism.is_empty() =>
            {
                Self::CreateResult { prism }
            }
            (&Method::GET, [Some("results"), Some(result_id), None, None])
                if !result_id.is_empty() =>
            {
                Self::ReadResult { result_id }
            }
            (&Method::POST, [Some("results"), Some(result_id), Some("retry"), None])
                if !result_id.is_empty() =>
            {
                Self::RetryResult { result_id }
            }
            _ => Self::Unknown,
        }
    }

    /// The route's path pattern, for logs and metrics: never a caller's value.
    pub(crate) fn pattern(self) -> &'static str {
        match self {
            Self::CreateResult { .. } => "/v1/prisms/{prism}/results",
            Self::ReadResult { .. } => "/v1/results/{result_id}",
            Self::RetryResult { .. } => "/v1/results/{result_id}/retry",
            Self::Unknown => "unknown",
        }
    }
}

/// Whether a path is under `/v1`, where a draining server answers 503 (readings, "Draining").
pub(crate) fn is_under_v1(path: &str) -> bool {
    path.strip_prefix("/v1")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Handles a create call.
///
/// # Errors
/// The first failing check, in the specification's order.
pub(crate) async fn create_result(
    refract: Rc<Refract>,
    in_flight: CallInFlight,
    prism: &str,
    request: &HttpRequest,
    body: SentBody<'_>,
    origin: CallOrigin,
) -> Result<Reply, ApiError> {
    let (call, format, room) = read_call(prism, request, body).await?;
    let key = request::presented(request.headers(), origin)?;
    let use_case = async move {
        // kept as long as the call has its text
        let _room = room;
        refract.results().create(&key, call).await
    };
    Reply::answered(&detached(in_flight, use_case).await?, format)
}

/// Reads the call and drops the body's bytes, so that only one copy of the text is in memory while
/// the call waits for the model.
async fn read_call(
    prism: &str,
    request: &HttpRequest,
    body: SentBody<'_>,
) -> Result<(CreateCall, Format, Option<HeldRoom>), ApiError> {
    let (body, room) = request::read_body(request.headers(), body).await?;
    let (call, format) = call::create(prism, request.query_string(), body.json()?)?;
    Ok((call, format, room))
}

/// Handles a read call. A body is left unread.
///
/// # Errors
/// The first failing check, in the specification's order.
pub(crate) async fn read_result(
    refract: &Refract,
    in_flight: CallInFlight,
    result_id: &str,
    request: &HttpRequest,
    origin: CallOrigin,
) -> Result<Reply, ApiError> {
    let (id, format) = call::of_result(result_id, request.query_string())?;
    let key = request::presented(request.headers(), origin)?;
    let use_case = refract.results().read(&key, id);
    Reply::read(&in_place(in_flight, use_case).await?, format)
}

/// Handles a retry call.
///
/// # Errors
/// The first failing check, in the specification's order.
pub(crate) async fn retry_result(
    refract: Rc<Refract>,
    in_flight: CallInFlight,
    result_id: &str,
    request: &HttpRequest,
    body: SentBody<'_>,
    origin: CallOrigin,
) -> Result<Reply, ApiError> {
    let (body, room) = request::read_body(request.headers(), body).await?;
    body.ignore()?;
    drop((body, room));
    let (id, format) = call::of_result(result_id, request.query_string())?;
    let key = request::presented(request.headers(), origin)?;
    let use_case = async move { refract.results().retry(&key, id).await };
    Reply::answered(&detached(in_flight, use_case).await?, format)
}

/// Runs a use case to its end, whether or not its client waits.
fn detached<T: 'static>(
    in_flight: CallInFlight,
    use_case: impl Future<Output = Result<T, CallError>> + 'static,
) -> impl Future<Output = Result<T, ApiError>> {
    in_flight
        .detached(logged(use_case))
        .map(|ended| ended.map_err(ApiError::from)?.map_err(ApiError::from))
}

/// Runs a read-only use case, which is cancelled when its client disconnects.
fn in_place<T>(
    in_flight: CallInFlight,
    use_case: impl Future<Output = Result<T, CallError>>,
) -> impl Future<Output = Result<T, ApiError>> {
    // boxed: otherwise every request's future would be as large as this use case
    Box::pin(logged(use_case)).map(move |ended| {
        drop(in_flight);
        ended.map_err(ApiError::from)
    })
}

/// Logs an internal error where it occurs, because after a disconnect no handler is left to log it.
fn logged<T>(
    use_case: impl Future<Output = Result<T, CallError>>,
) -> impl Future<Output = Result<T, CallError>> {
    use_case.inspect(|outcome| {
        if let Err(CallError::Internal(error)) = outcome {
            tracing::error!(error = with_causes(error), "a call failed");
        }
    })
}

#[cfg(test)]
mod tests;
