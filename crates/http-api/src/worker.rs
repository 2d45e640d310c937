//! Answers a request from its head to its reply, on one worker thread, and ends its record.
//!
//! One actix handler receives every path and method, because the specification fixes the order of
//! the checks: actix runs extractors concurrently and answers unknown routes itself.
//!
//! A record has the result in the reply and the caller, as the id of the API key. It never contains
//! a text, a context, a `ref` or a key.

use std::rc::Rc;

use actix_web::{HttpRequest, HttpResponse, web};
use refract_http_serving::{
    BodyReader, ClientAddress, EndedRequest, Lifecycle, RequestLine, RequestRecord,
    RequestRecorder, RequestUnderWay, SentBody, discard_body, unless_panicked, with_causes,
};
use refract_identity::keys::CallKeyId;
use refract_service::Refract;
use tracing::Instrument as _;

use crate::error::ApiError;
use crate::reply::{Reply, ReplySubject};
use crate::request::CallOrigin;
use crate::routes::{self, Route, is_under_v1};

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
        end(record, &reply);
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
                routes::create_result(refract, in_flight, prism, request, body, origin).await
            }
            Route::ReadResult { result_id } => {
                routes::read_result(&refract, in_flight, result_id, request, origin).await
            }
            Route::RetryResult { result_id } => {
                routes::retry_result(refract, in_flight, result_id, request, body, origin).await
            }
            Route::Unknown => Err(ApiError::RouteNotFound),
        };
        if let Err(error @ ApiError::NotRendered(_)) = &answer {
            tracing::error!(error = with_causes(error), "a result was not rendered");
        }
        answer
    }
}

/// The API's part of a request's log line.
#[derive(Default)]
pub(crate) struct CallLine {
    /// Set once the caller's key is found.
    pub(crate) key: CallKeyId,
    subject: Option<ReplySubject>,
    fault: Option<String>,
}

impl RequestLine for CallLine {
    fn log(&self, ended: &EndedRequest<'_>) {
        let subject = self.subject.as_ref();
        tracing::info!(
            method = ended.method,
            route = ended.route,
            status = ended.status,
            fault = self.fault,
            ms = ended.ms,
            cut = ended.cut,
            prism = subject.map(|subject| subject.prism.as_str()),
            result = subject.map(|subject| tracing::field::display(subject.result)),
            key = self.key.get().map(tracing::field::display),
            client = ended.client.map(tracing::field::display),
            request_id = %ended.id,
            trace_id = ended.trace.trace_id().map(tracing::field::display),
            span_id = ended.trace.span_id().map(tracing::field::display),
            "request"
        );
    }
}

/// Ends the record of a request with its reply.
pub(crate) fn end(mut record: RequestRecord<CallLine>, reply: &Reply) {
    if let Some(subject) = reply.subject() {
        let ReplySubject { prism, result } = subject;
        record.trace_mut().answered_with(prism, result);
        record.line_mut().subject = Some(subject.clone());
    }
    record.line_mut().fault = reply.fault().map(str::to_owned);
    record.end(reply.status().as_u16());
}

#[cfg(test)]
mod tests;
