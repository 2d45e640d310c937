//! One line in the log and one count in the metrics for every request, however it ends.
//!
//! Never a text, a context, a `ref` or a key: what a caller sent is not here but for the method
//! and the request id.

use std::time::Instant;

use crate::metrics::HttpMetrics;
use crate::reply::{About, Reply};
use crate::request_id::RequestId;

/// The status under which a request is counted whose client did not wait for the answer.
const CLIENT_GONE: u16 = 499;

/// A request under way. It is logged and counted when this is dropped.
pub(crate) struct RequestRecord {
    metrics: HttpMetrics,
    id: RequestId,
    method: String,
    route: &'static str,
    began: Instant,
    status: u16,
    about: Option<About>,
}

impl RequestRecord {
    /// Begins the record of a request.
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
            about: None,
        }
    }

    /// Ends it with its answer.
    pub(crate) fn end(mut self, reply: &Reply) {
        self.status = reply.status().as_u16();
        self.about = reply.about().cloned();
    }
}

impl Drop for RequestRecord {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        self.metrics.count(self.route, self.status, took);
        let about = self.about.as_ref();
        tracing::info!(
            method = self.method,
            route = self.route,
            status = self.status,
            ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            prism = about.map(|about| about.prism.as_str()),
            result = about.map(|about| tracing::field::display(about.result)),
            request_id = %self.id,
            "request"
        );
    }
}

#[cfg(test)]
mod tests;
