//! One log line, one count in the metrics and the end of the trace for every request, however the
//! request ends.
//!
//! A record never holds a text, a context, a `ref` or a key: the method and the request id are all
//! that a caller can put into the log.

use std::time::Instant;

use crate::metrics::HttpMetrics;
use crate::reply::{Reply, ReplySubject};
use refract_http_serving::{ClientAddress, RequestId};
use refract_traces::RequestTrace;

/// The status that is recorded when the client did not wait for the reply.
const CLIENT_GONE: u16 = 499;

/// The record of a request in progress. Dropping the record logs, counts and traces the request.
pub(crate) struct RequestRecord {
    metrics: HttpMetrics,
    id: RequestId,
    method: String,
    route: &'static str,
    client: Option<ClientAddress>,
    began: Instant,
    status: u16,
    subject: Option<ReplySubject>,
    trace: RequestTrace,
}

impl RequestRecord {
    /// Begins the record when a request arrives.
    pub(crate) fn begin(
        metrics: HttpMetrics,
        id: RequestId,
        method: &str,
        route: &'static str,
        client: Option<ClientAddress>,
        trace: RequestTrace,
    ) -> Self {
        Self {
            metrics,
            id,
            method: method.to_owned(),
            route,
            client,
            began: Instant::now(),
            status: CLIENT_GONE,
            subject: None,
            trace,
        }
    }

    /// Ends the record with the reply.
    pub(crate) fn end(mut self, reply: &Reply) {
        self.status = reply.status().as_u16();
        self.subject = reply.subject().cloned();
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.metrics.count(self.route, self.status, took);
        let subject = self.subject.as_ref();
        if let Some(ReplySubject { prism, result }) = subject {
            self.trace.answered_with(prism, result);
        }
        self.trace.end(self.status);
        tracing::info!(
            method = self.method,
            route = self.route,
            status = self.status,
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            prism = subject.map(|subject| subject.prism.as_str()),
            result = subject.map(|subject| tracing::field::display(subject.result)),
            client = self.client.map(tracing::field::display),
            request_id = %self.id,
            trace_id = self.trace.trace_id().map(tracing::field::display),
            span_id = self.trace.span_id().map(tracing::field::display),
            "request"
        );
    }
}

#[cfg(test)]
mod tests;
