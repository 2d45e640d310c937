//! The trace of a request, in the form that a use case passes to the crates for models and
//! databases.

use std::sync::Arc;

use opentelemetry_sdk::trace::Span as SdkSpan;

use crate::spans::{
    AttemptSpan, ModelAttempt, ProcessTracer, StatementName, StatementSpan, TracedCall,
};

/// The trace of one request. The default is off: nothing is recorded or passed on.
#[derive(Clone, Debug, Default)]
pub struct CallTrace(Option<Arc<TracedCall>>);

impl CallTrace {
    pub(crate) fn of(tracer: &Arc<ProcessTracer>, request: &SdkSpan) -> Self {
        Self(Some(Arc::new(TracedCall::of(tracer, request))))
    }

    /// Begins an attempt at the model. `attempt` is not called unless the request is sampled.
    pub fn begin_attempt<'a>(&self, attempt: impl FnOnce() -> ModelAttempt<'a>) -> AttemptSpan {
        match &self.0 {
            None => AttemptSpan::default(),
            Some(call) => AttemptSpan::begin(call, attempt),
        }
    }

    /// Begins a statement. It gets a span only if the request is sampled and statements are traced.
    pub fn begin_statement(
        &self,
        system: &'static str,
        statement: &StatementName,
    ) -> StatementSpan {
        match &self.0 {
            Some(call) if call.is_sampled && call.tracer.with_statements => {
                StatementSpan::begin(call, system, statement)
            }
            Some(_) | None => StatementSpan::default(),
        }
    }
}
