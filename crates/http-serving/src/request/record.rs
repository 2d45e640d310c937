//! The record of a request: one log line, one count in the metrics and the end of the trace,
//! however the request ends.
//!
//! A record never contains a body, a path, a query or a header other than the request id: the
//! method and the request id are the only client data in the log. The listener's [`RequestLine`]
//! adds other data, such as the caller.

use std::rc::Rc;
use std::time::{Duration, Instant};

use actix_web::HttpRequest;
use actix_web::http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use refract_traces::{RequestTrace, Traces};
use tracing::Span;

use crate::lifecycle::Lifecycle;
use crate::request::{ClientAddress, RequestId, TrustedProxies, begin_trace, request_span};

/// The recorded status when the client did not wait for the reply.
const CLIENT_GONE: u16 = 499;
/// The recorded status when the server stopped before the reply.
const CUT: u16 = 503;

/// Records the requests of one worker thread of a listener.
pub struct RequestRecorder {
    /// Counts the requests.
    pub metrics: RequestMetrics,
    /// The server's lifecycle: separates requests cut off at the stop from requests whose client
    /// did not wait.
    pub lifecycle: Lifecycle,
    /// The proxies that are trusted to report a request's client.
    pub proxies: TrustedProxies,
    /// Traces of requests, off or on.
    pub traces: Traces,
}

/// The record of a request in progress. Dropping the record logs, counts and traces the request.
pub struct RequestRecord<L: RequestLine> {
    recorder: Rc<RequestRecorder>,
    id: RequestId,
    method: Method,
    route: &'static str,
    client: Option<ClientAddress>,
    trace: RequestTrace,
    began: Instant,
    /// `None` until there is a reply.
    status: Option<u16>,
    line: L,
}

/// A listener's data about a request for its log line, and the line itself.
pub trait RequestLine {
    /// Logs the request.
    fn log(&self, ended: &EndedRequest<'_>);
}

/// A request that ended, with the data for its log line.
pub struct EndedRequest<'a> {
    /// The method in the request.
    pub method: &'a str,
    /// The pattern of the path, never the path.
    pub route: &'static str,
    /// The status of the reply; without a reply 499, or 503 if the stopping server cut the request
    /// off.
    pub status: u16,
    /// Milliseconds from the head to the end.
    pub ms: u64,
    /// `Some(true)` if the stopping server cut the request off, otherwise `None`.
    pub cut: Option<bool>,
    /// The client's address.
    pub client: Option<ClientAddress>,
    /// The request's id.
    pub id: &'a RequestId,
    /// The trace, for its ids.
    pub trace: &'a RequestTrace,
}

impl RequestRecorder {
    /// Begins the record of a request that has arrived. `route` is the pattern of its path.
    pub fn begin<L: RequestLine>(
        self: &Rc<Self>,
        request: &HttpRequest,
        route: &'static str,
        line: L,
    ) -> RequestRecord<L> {
        RequestRecord {
            recorder: Rc::clone(self),
            id: RequestId::of(request.headers()),
            method: request.method().clone(),
            route,
            client: ClientAddress::of(request, &self.proxies),
            trace: begin_trace(&self.traces, request, route),
            began: Instant::now(),
            status: None,
            line,
        }
    }
}

impl<L: RequestLine> RequestRecord<L> {
    /// The request's id.
    pub fn id(&self) -> &RequestId {
        &self.id
    }

    /// The address of the request's client.
    pub fn client(&self) -> Option<ClientAddress> {
        self.client
    }

    /// The request's trace.
    pub fn trace(&self) -> &RequestTrace {
        &self.trace
    }

    /// The request's trace, mutable.
    pub fn trace_mut(&mut self) -> &mut RequestTrace {
        &mut self.trace
    }

    /// The listener's data about the request.
    pub fn line(&self) -> &L {
        &self.line
    }

    /// The listener's data about the request, mutable.
    pub fn line_mut(&mut self) -> &mut L {
        &mut self.line
    }

    /// The log span of the request, with its id and its trace.
    pub fn span(&self) -> Span {
        request_span(&self.id, &self.trace)
    }

    /// Ends the record with the status of the reply.
    pub fn end(mut self, status: u16) {
        self.status = Some(status);
    }
}

impl<L: RequestLine> Drop for RequestRecord<L> {
    fn drop(&mut self) {
        let took = self.began.elapsed();
        let is_cut = self.status.is_none() && self.recorder.lifecycle.is_cutting();
        let without_reply = if is_cut { CUT } else { CLIENT_GONE };
        let status = self.status.unwrap_or(without_reply);
        self.recorder.metrics.count(self.route, status, took);
        self.trace.end(status);
        self.line.log(&EndedRequest {
            method: self.method.as_str(),
            route: self.route,
            status,
            ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            cut: is_cut.then_some(true),
            client: self.client,
            id: &self.id,
            trace: &self.trace,
        });
    }
}

/// Upper bounds of the duration buckets in seconds, from a fast read to a create with two attempts
/// at the model.
const SECONDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0, 40.0,
];

/// The metrics of the requests of one listener. Clones share their counters.
#[derive(Clone)]
pub struct RequestMetrics {
    requests: Family<RequestLabels, Counter>,
    durations: Family<RouteLabel, Histogram, fn() -> Histogram>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: &'static str,
    status: u16,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabel {
    route: &'static str,
}

impl RequestMetrics {
    /// Adds the metrics of a listener to a registry: `{prefix}_requests_total` by route and status,
    /// and `{prefix}_request_duration_seconds` by route. `served` names the listener in their help
    /// texts.
    pub fn register(registry: &mut Registry, prefix: &str, served: &str) -> Self {
        let metrics = Self {
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(SECONDS)),
        };
        registry.register(
            format!("{prefix}_requests"),
            format!(
                "Requests to {served} by route and status; 499 when the client did not wait, 503 \
                 also when the stopping node cut the call off"
            ),
            metrics.requests.clone(),
        );
        registry.register(
            format!("{prefix}_request_duration_seconds"),
            "Time from a request's head to its answer by route",
            metrics.durations.clone(),
        );
        metrics
    }

    /// Counts a finished request. `route` is a pattern and never a path: each value is a separate
    /// series.
    pub fn count(&self, route: &'static str, status: u16, took: Duration) {
        self.requests
            .get_or_create(&RequestLabels { route, status })
            .inc();
        self.durations
            .get_or_create(&RouteLabel { route })
            .observe(took.as_secs_f64());
    }
}

#[cfg(test)]
mod tests;
