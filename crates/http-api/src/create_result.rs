//! `POST /v1/prisms/{prism}/results`: answer one text (spec 4.1).

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use refract_answering::{Answering, CreateCall};
use refract_lens_rendering::Format;

use crate::error::ApiError;
use crate::lifecycle::CallInFlight;
use crate::reply::Reply;
use crate::{bearer, body, call};

/// Answers a request.
///
/// # Errors
/// The first check that fails, in the specification's order.
pub(crate) async fn handle(
    answering: Answering,
    in_flight: CallInFlight,
    prism: &str,
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<Reply, ApiError> {
    let (call, format) = read_call(prism, request, payload).await?;
    let api_key = bearer::read(request.headers())?;
    let use_case = async move { answering.create_result(api_key.as_ref(), call).await };
    Reply::answered(&in_flight.detached(use_case).await?, format)
}

/// The body's bytes end here: a call that waits on the model holds its values once.
async fn read_call(
    prism: &str,
    request: &HttpRequest,
    payload: &mut Payload,
) -> Result<(CreateCall, Format), ApiError> {
    let body = body::read(request.headers(), payload).await?;
    Ok(call::create(prism, request.query_string(), body.json()?)?)
}
