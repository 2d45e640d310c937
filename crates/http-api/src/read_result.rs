//! `GET /v1/results/{result_id}`: any result of the account (spec 4.2).

use actix_web::HttpRequest;
use refract_http_serving::CallInFlight;
use refract_service::Refract;

use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::bearer::CallOrigin;
use crate::request::{bearer, call};
use crate::use_case::in_place;

/// Handles a read call. A body is left unread.
///
/// # Errors
/// The first failing check, in the specification's order.
pub(crate) async fn handle(
    refract: &Refract,
    in_flight: CallInFlight,
    result_id: &str,
    request: &HttpRequest,
    origin: CallOrigin,
) -> Result<Reply, ApiError> {
    let (id, format) = call::of_result(result_id, request.query_string())?;
    let key = bearer::presented(request.headers(), origin)?;
    let use_case = refract.results().read(&key, id);
    Reply::read(&in_place(in_flight, use_case).await?, format)
}
