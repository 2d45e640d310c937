//! `POST /v1/prisms/{prism}/results`: answer one text (spec 4.1).

use std::rc::Rc;

use actix_web::HttpRequest;
use refract_http_serving::{CallInFlight, HeldRoom, SentBody};
use refract_lens_rendering::Format;
use refract_service::Refract;
use refract_service::results::CreateCall;

use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::bearer::CallOrigin;
use crate::request::{bearer, body, call};
use crate::use_case::detached;

/// Handles a create call.
///
/// # Errors
/// The first failing check, in the specification's order.
pub(crate) async fn handle(
    refract: Rc<Refract>,
    in_flight: CallInFlight,
    prism: &str,
    request: &HttpRequest,
    body: SentBody<'_>,
    origin: CallOrigin,
) -> Result<Reply, ApiError> {
    let (call, format, room) = read_call(prism, request, body).await?;
    let key = bearer::presented(request.headers(), origin)?;
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
