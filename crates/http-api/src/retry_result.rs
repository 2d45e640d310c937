//! `POST /v1/results/{result_id}/retry`: ask the model again about a failed result (spec 4.3).

use std::rc::Rc;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use refract_answering::{Answering, CallKeyId};

use crate::error::ApiError;
use crate::reply::Reply;
use crate::use_case::detached;
use crate::{bearer, body, call};
use refract_http_serving::CallInFlight;

/// Handles a retry call.
///
/// # Errors
/// The first check of the specification's order that fails.
pub(crate) async fn handle(
    answering: Rc<Answering>,
    in_flight: CallInFlight,
    result_id: &str,
    request: &HttpRequest,
    payload: &mut Payload,
    key: CallKeyId,
) -> Result<Reply, ApiError> {
    body::read(request.headers(), payload).await?.ignore()?;
    let (id, format) = call::of_result(result_id, request.query_string())?;
    let key = bearer::presented(request.headers(), key)?;
    let use_case = async move { answering.retry_result(&key, id).await };
    Reply::answered(&detached(in_flight, use_case).await?, format)
}
