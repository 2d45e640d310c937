//! One log line and one count in the metrics for every request, however the request ends.
//!
//! A record never holds a text, a context, a `ref` or a key: the method and the request id are all
//! that a caller can put into the log.

use std::time::Instant;

use crate::metrics::HttpMetrics;
use crate::reply::{Reply, ReplySubject};
use refract_http_serving::RequestId;

/// The status that is recorded when the client did not wait for the reply.
const CLIENT_GONE: u16 = 499;

/// The record of a request in progress. Dropping the record logs and counts the request.
pub(crate) struct RequestRecord {
    metrics: HttpMetrics,
    id: RequestId,
    method: String,
    route: &'static str,
    began: Instant,
    status: u16,
    subject: Option<ReplySubject>,
}

impl RequestRecord {
    /// Begins the record when a request arrives.
    pub(crate) fn begin(
        metrics: HttpMetrics,
        id: RequestId,
        method: &str,
        route: &'static str,
    ) -> Self {
        Self {
            metrics,
            id,
            method: method.to_owned(),
            route,
            began: Instant::now(),
            status: CLIENT_GONE,
            subject: None,
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
        tracing::info!(
            method = self.method,
            route = self.route,
            status = self.status,
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            prism = subject.map(|subject| subject.prism.as_str()),
            result = subject.map(|subject| tracing::field::display(subject.result)),
            request_id = %self.id,
            "request"
        );
    }
}

#[cfg(test)]
mod tests;
