//! Traces of a process: off, or on with a maker of spans.

use std::sync::Arc;

use crate::request_trace::RequestTrace;
use crate::span_maker::SpanMaker;
use crate::trace_context::CallerTrace;

/// Traces of a process. The default is off. Clones share one export.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Arc<SpanMaker>>);

impl Traces {
    pub(crate) fn on(maker: SpanMaker) -> Self {
        Self(Some(Arc::new(maker)))
    }

    /// Begins the trace of a request, and decides whether it is sampled.
    ///
    /// `route` is the pattern of its path, `None` for a path without a route. `caller` reads the
    /// caller's trace from the request's headers; it is not called when traces are off.
    pub fn begin_request(
        &self,
        method: &str,
        route: Option<&'static str>,
        caller: impl FnOnce() -> Option<CallerTrace>,
    ) -> RequestTrace {
        match &self.0 {
            None => RequestTrace::default(),
            Some(maker) => RequestTrace::begin(maker, method, route, caller()),
        }
    }
}
