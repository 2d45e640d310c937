//! Answers a request from its head to its reply, on one worker thread.
//!
//! One actix handler receives every path and method, because the specification fixes the order of
//! the checks: actix runs extractors concurrently and answers unknown routes itself.

use std::rc::Rc;

use actix_web::{HttpRequest, HttpResponse, web};
use refract_http_serving::{
    BodyReader, ClientAddress, Lifecycle, RequestRecorder, RequestUnderWay, SentBody, discard_body,
    unless_panicked, with_causes,
};
use refract_service::Refract;
use tracing::Instrument as _;

use crate::calls;
use crate::error::ApiError;
use crate::reply::Reply;
use crate::request::CallOrigin;
use crate::request_record::{self, CallLine};
use crate::routes::{Route, is_under_v1};

/// The state of a worker thread, shared by its requests.
pub(crate) struct Worker {
    pub(crate) refract: Rc<Refract>,
    pub(crate) bodies: BodyReader,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) recorder: Rc<RequestRecorder>,
}

impl Worker {
    /// Answers a request, then logs, counts and traces it.
    pub(crate) async fn answer(
        self: Rc<Self>,
        request: HttpRequest,
        payload: web::Payload,
    ) -> HttpResponse {
        let under_way = RequestUnderWay::begin(&request);
        let route = Route::find(request.method(), request.path());
        let line = CallLine::default();
        let key = line.key.clone();
        let record = self.recorder.begin(&request, route.pattern(), line);
        let id = record.id().clone();
        let client = record.client().map(ClientAddress::ip);
        let origin = CallOrigin { key, client };
        let refract = match record.trace().call() {
            Some(call) => Rc::new(Refract::clone(&self.refract).traced(call)),
            None => Rc::clone(&self.refract),
        };
        let mut payload = payload.into_inner();
        let gate = under_way.gate();
        let body = SentBody {
            reader: &self.bodies,
            gate,
            payload: &mut payload,
        };
        let answer = unless_panicked(self.route(refract, route, &request, body, origin))
            .instrument(record.span())
            .await;
        let reply = answer
            .unwrap_or_else(|panicked| Err(panicked.into()))
            .unwrap_or_else(|error| Reply::error(&error));
        request_record::end(record, &reply);
        discard_body(request.headers(), gate, &mut payload).await;
        reply.into_response(&id, payload, under_way)
    }

    async fn route(
        &self,
        refract: Rc<Refract>,
        route: Route<'_>,
        request: &HttpRequest,
        body: SentBody<'_>,
        origin: CallOrigin,
    ) -> Result<Reply, ApiError> {
        if !is_under_v1(request.path()) {
            return Err(ApiError::RouteNotFound);
        }
        let in_flight = self.lifecycle.admit()?;
        let answer = match route {
            Route::CreateResult { prism } => {
                calls::create_result(refract, in_flight, prism, request, body, origin).await
            }
            Route::ReadResult { result_id } => {
                calls::read_result(&refract, in_flight, result_id, request, origin).await
            }
            Route::RetryResult { result_id } => {
                calls::retry_result(refract, in_flight, result_id, request, body, origin).await
            }
            Route::Unknown => Err(ApiError::RouteNotFound),
        };
        if let Err(error @ ApiError::NotRendered(_)) = &answer {
            tracing::error!(error = with_causes(error), "a result was not rendered");
        }
        answer
    }
}
