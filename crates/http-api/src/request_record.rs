//! One log line, one count in the metrics and the end of the trace for every request, however the
//! request ends.
//!
//! A record never holds a text, a context, a `ref` or a key: the method and the request id are all
//! that a caller can put into the log. Who called is told by the id of the API key and the client's
//! address.

use std::time::Instant;

use refract_answering::CallKeyId;
use refract_http_serving::{ClientAddress, Lifecycle, RequestId};
use refract_traces::RequestTrace;

use crate::metrics::HttpMetrics;
use crate::reply::{Reply, ReplySubject};

/// The status that is recorded when the client did not wait for the reply.
const CLIENT_GONE: u16 = 499;
/// The status that is recorded when the server stopped before the reply.
const CUT: u16 = 503;

/// What is known of a request from its head, and its caller's key once that is found.
pub(crate) struct BegunRequest {
    pub(crate) id: RequestId,
    pub(crate) method: String,
    pub(crate) route: &'static str,
    pub(crate) client: Option<ClientAddress>,
    pub(crate) key: CallKeyId,
}

/// The record of a request in progress. Dropping the record logs, counts and traces the request.
pub(crate) struct RequestRecord {
    request: BegunRequest,
    metrics: HttpMetrics,
    lifecycle: Lifecycle,
    began: Instant,
    /// `None` until there is a reply.
    status: Option<u16>,
    subject: Option<ReplySubject>,
    trace: RequestTrace,
}

impl RequestRecord {
    /// Begins the record when a request arrives.
    pub(crate) fn begin(
        request: BegunRequest,
        metrics: HttpMetrics,
        lifecycle: Lifecycle,
        trace: RequestTrace,
    ) -> Self {
        Self {
            request,
            metrics,
            lifecycle,
            began: Instant::now(),
            status: None,
            subject: None,
            trace,
        }
    }

    /// Ends the record with the reply.
    pub(crate) fn end(mut self, reply: &Reply) {
        self.status = Some(reply.status().as_u16());
        self.subject = reply.subject().cloned();
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let is_cut = self.status.is_none() && self.lifecycle.is_cutting();
        let without_reply = if is_cut { CUT } else { CLIENT_GONE };
        let status = self.status.unwrap_or(without_reply);
        let BegunRequest {
            id,
            method,
            route,
            client,
            key,
        } = &self.request;
        self.metrics.count(route, status, took);
        let subject = self.subject.as_ref();
        if let Some(ReplySubject { prism, result }) = subject {
            self.trace.answered_with(prism, result);
        }
        self.trace.end(status);
        tracing::info!(
            method,
            route,
            status,
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            cut = is_cut.then_some(true),
            prism = subject.map(|subject| subject.prism.as_str()),
            result = subject.map(|subject| tracing::field::display(subject.result)),
            key = key.get().map(tracing::field::display),
            client = client.map(tracing::field::display),
            request_id = %id,
            trace_id = self.trace.trace_id().map(tracing::field::display),
            span_id = self.trace.span_id().map(tracing::field::display),
            "request"
        );
    }
}

#[cfg(test)]
mod tests;
