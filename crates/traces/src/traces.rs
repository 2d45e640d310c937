//! Traces of a process: off, or on with a tracer of spans.

use std::sync::Arc;

use crate::request_trace::RequestTrace;
use crate::spans::ProcessTracer;
use crate::trace_context::CallerTrace;

/// Traces of a process. The default is off. Clones share one export.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Arc<ProcessTracer>>);

impl Traces {
    pub(crate) fn on(tracer: ProcessTracer) -> Self {
        Self(Some(Arc::new(tracer)))
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
            Some(tracer) => RequestTrace::begin(tracer, method, route, caller()),
        }
    }
}
