//! A request from its head to its reply, on one worker thread.
//!
//! One actix handler takes every path and method, because the specification fixes the order of the
//! checks: actix runs extractors concurrently and answers unknown routes itself.

use std::rc::Rc;

use actix_web::{HttpRequest, HttpResponse, web};
use refract_answering::{Answering, CallKeyId};
use tracing::Instrument as _;

use crate::error::ApiError;
use crate::metrics::HttpMetrics;
use crate::reply::Reply;
use crate::request_record::{BegunRequest, RequestRecord};
use crate::routes::{Route, is_under_v1};
use crate::{create_result, read_result, retry_result};
use refract_http_serving::{
    BodyReader, ClientAddress, Lifecycle, RequestId, RequestUnderWay, SentBody, TrustedProxies,
    begin_trace, discard_body, request_span, unless_panicked, with_causes,
};
use refract_traces::Traces;

/// What a worker thread needs to answer requests. Requests share it.
pub(crate) struct Worker {
    pub(crate) answering: Rc<Answering>,
    pub(crate) bodies: BodyReader,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) metrics: HttpMetrics,
    pub(crate) proxies: TrustedProxies,
    pub(crate) traces: Traces,
}

impl Worker {
    /// Answers a request, then logs, counts and traces it.
    pub(crate) async fn answer(
        self: Rc<Self>,
        request: HttpRequest,
        payload: web::Payload,
    ) -> HttpResponse {
        let under_way = RequestUnderWay::begin(&request);
        let id = RequestId::of(request.headers());
        let route = Route::find(request.method(), request.path());
        let trace = begin_trace(&self.traces, &request, route.pattern());
        let span = request_span(&id, &trace);
        let answering = match trace.call() {
            Some(call) => Rc::new(Answering::clone(&self.answering).traced(call)),
            None => Rc::clone(&self.answering),
        };
        let key = CallKeyId::default();
        let begun = BegunRequest {
            id: id.clone(),
            method: request.method().as_str().to_owned(),
            route: route.pattern(),
            client: ClientAddress::of(&request, &self.proxies),
            key: key.clone(),
        };
        let (metrics, lifecycle) = (self.metrics.clone(), self.lifecycle.clone());
        let record = RequestRecord::begin(begun, metrics, lifecycle, trace);
        let mut payload = payload.into_inner();
        let gate = under_way.gate();
        let body = SentBody {
            reader: &self.bodies,
            gate,
            payload: &mut payload,
        };
        let answer = unless_panicked(self.route(answering, route, &request, body, key))
            .instrument(span)
            .await;
        let reply = answer
            .unwrap_or_else(|panicked| Err(panicked.into()))
            .unwrap_or_else(|error| Reply::error(&error));
        record.end(&reply);
        discard_body(request.headers(), gate, &mut payload).await;
        reply.into_response(&id, payload, under_way)
    }

    async fn route(
        &self,
        answering: Rc<Answering>,
        route: Route<'_>,
        request: &HttpRequest,
        body: SentBody<'_>,
        key: CallKeyId,
    ) -> Result<Reply, ApiError> {
        if !is_under_v1(request.path()) {
            return Err(ApiError::RouteNotFound);
        }
        let in_flight = self.lifecycle.admit()?;
        let answer = match route {
            Route::CreateResult { prism } => {
                create_result::handle(answering, in_flight, prism, request, body, key).await
            }
            Route::ReadResult { result_id } => {
                read_result::handle(&answering, in_flight, result_id, request, key).await
            }
            Route::RetryResult { result_id } => {
                retry_result::handle(answering, in_flight, result_id, request, body, key).await
            }
            Route::Unknown => Err(ApiError::RouteNotFound),
        };
        if let Err(error @ ApiError::NotRendered(_)) = &answer {
            tracing::error!(error = with_causes(error), "a result was not rendered");
        }
        answer
    }
}
