//! `POST /v1/results/{result_id}/retry`: ask the model again about a failed result (spec 4.3).

use std::rc::Rc;

use actix_web::HttpRequest;
use refract_http_serving::{CallInFlight, SentBody};
use refract_service::Refract;

use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::bearer::CallOrigin;
use crate::request::{bearer, body, call};
use crate::use_case::detached;

/// Handles a retry call.
///
/// # Errors
/// The first failing check, in the specification's order.
pub(crate) async fn handle(
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
    let key = bearer::presented(request.headers(), origin)?;
    let use_case = async move { refract.results().retry(&key, id).await };
    Reply::answered(&detached(in_flight, use_case).await?, format)
}
