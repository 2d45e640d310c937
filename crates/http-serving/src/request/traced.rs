//! The trace of a request, begun from its head, and the span for its log lines.

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use refract_traces::{CallerTrace, RequestTrace, Traces};
use tracing::Span;

use crate::request::id::RequestId;

/// Begins the trace of a request, as part of its caller's trace. `route` is the pattern of the
/// request's path; any name that is not a path means that no route matched.
pub(crate) fn begin_trace(
    traces: &Traces,
    request: &HttpRequest,
    route: &'static str,
) -> RequestTrace {
    let route = route.starts_with('/').then_some(route);
    traces.begin_request(request.method().as_str(), route, || {
        let headers = request.headers();
        CallerTrace::read(
            values(headers, "traceparent"),
            values(headers, "tracestate"),
        )
    })
}

/// The log span of a request: every log line within it has the request's id, and the ids of its
/// trace if there is one.
pub(crate) fn request_span(id: &RequestId, trace: &RequestTrace) -> Span {
    tracing::error_span!(
        "request",
        request_id = %id,
        trace_id = trace.trace_id().map(tracing::field::display),
        span_id = trace.span_id().map(tracing::field::display)
    )
}

/// The values of a header, in the order sent; a value that is not ASCII is read as empty.
fn values<'a>(headers: &'a HeaderMap, name: &'static str) -> impl Iterator<Item = &'a str> {
    let sent = headers.get_all(name);
    sent.map(|value| value.to_str().unwrap_or_default())
}
