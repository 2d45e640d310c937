//! The handlers of the three routes: each reads its request, runs the use case and replies. A use
//! case that asks the model continues when its client disconnects.

use std::rc::Rc;

use actix_web::HttpRequest;
use futures_util::FutureExt as _;
use refract_http_serving::{CallInFlight, HeldRoom, SentBody, with_causes};
use refract_lens_rendering::Format;
use refract_service::results::CreateCall;
use refract_service::{CallError, Refract};

use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::{self, CallOrigin, body, call};

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
    let (body, room) = body::read(request.headers(), body).await?;
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
    let (body, room) = body::read(request.headers(), body).await?;
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
