//! The parent and the settings of spans below a request's span.

use std::sync::Arc;

use opentelemetry::Context;
use opentelemetry::trace::{Span as _, TraceContextExt as _};
use opentelemetry_sdk::trace::Span as SdkSpan;

use crate::process_tracer::ProcessTracer;

/// The request, as the parent of the spans of its attempts and statements.
#[derive(Debug)]
pub(crate) struct TracedCall {
    pub(crate) tracer: Arc<ProcessTracer>,
    /// The context with the ids of the request's span.
    pub(crate) request: Context,
    pub(crate) is_sampled: bool,
}

impl TracedCall {
    pub(crate) fn of(tracer: &Arc<ProcessTracer>, request: &SdkSpan) -> Self {
        let ids = request.span_context().clone();
        Self {
            tracer: Arc::clone(tracer),
            request: Context::new().with_remote_span_context(ids),
            is_sampled: request.is_recording(),
        }
    }
}
