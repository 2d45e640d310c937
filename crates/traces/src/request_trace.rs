//! The span of a request, the parent of its model attempts and database statements; and its trace in
//! the form that a use case passes to the crates for models and databases.

use std::fmt;
use std::sync::Arc;

use opentelemetry::trace::{Span as _, SpanKind, Status, TraceContextExt as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::Span as SdkSpan;

use crate::spans::{AttemptSpan, CallerTrace, ProcessTracer, StatementSpan, TracedCall};
use crate::{ModelAttempt, StatementName};

/// The HTTP methods that spans record. Any other method is a caller's invention and is recorded as
/// `_OTHER`, so that names stay few.
const METHODS: [&str; 9] = [
    "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
];

/// The trace of a request in progress. Its span ends when the value is dropped, at the latest.
#[derive(Debug, Default)]
pub struct RequestTrace(Option<Box<BegunRequest>>);

#[derive(Debug)]
struct BegunRequest {
    /// Records nothing when the request is not sampled.
    span: SdkSpan,
    call: CallTrace,
}

impl RequestTrace {
    pub(crate) fn begin(
        tracer: &Arc<ProcessTracer>,
        method: &str,
        route: Option<&'static str>,
        caller: Option<CallerTrace>,
    ) -> Self {
        let parent = match caller {
            Some(CallerTrace(span)) => Context::new().with_remote_span_context(span),
            None => Context::new(),
        };
        // no attributes yet: the sampling decision comes first
        let name = route.unwrap_or("HTTP");
        let mut span = tracer.begin(name, SpanKind::Server, None, &parent);
        if span.is_recording() {
            describe(&mut span, method, route);
        }
        let call = CallTrace::of(tracer, &span);
        Self(Some(Box::new(BegunRequest { span, call })))
    }

    /// The trace in the form that use cases pass on; `None` when traces are off.
    pub fn call(&self) -> Option<CallTrace> {
        self.0.as_ref().map(|begun| begun.call.clone())
    }

    /// The id of the trace in 32 hexadecimal digits, for the log.
    pub fn trace_id(&self) -> Option<impl fmt::Display + use<>> {
        let begun = self.0.as_ref()?;
        Some(begun.span.span_context().trace_id())
    }

    /// The id of the request's span in 16 hexadecimal digits, for the log.
    pub fn span_id(&self) -> Option<impl fmt::Display + use<>> {
        let begun = self.0.as_ref()?;
        Some(begun.span.span_context().span_id())
    }

    /// Records the id of the result in the reply, and the slug of the result's prism.
    pub fn answered_with(&mut self, prism: &str, result: &impl fmt::Display) {
        if let Some(span) = self.recorded() {
            span.set_attribute(KeyValue::new("refract.prism", prism.to_owned()));
            span.set_attribute(KeyValue::new("refract.result", result.to_string()));
        }
    }

    /// Ends the request's span with the status of the reply; 499 if the client disconnected before
    /// the reply.
    pub fn end(&mut self, status: u16) {
        let Some(span) = self.recorded() else {
            return;
        };
        let code = KeyValue::new("http.response.status_code", i64::from(status));
        span.set_attribute(code);
        if status >= 500 {
            span.set_attribute(KeyValue::new("error.type", status.to_string()));
            span.set_status(Status::error(""));
        }
        span.end();
    }

    fn recorded(&mut self) -> Option<&mut SdkSpan> {
        let begun = self.0.as_mut()?;
        begun.span.is_recording().then_some(&mut begun.span)
    }
}

fn describe(span: &mut SdkSpan, method: &str, route: Option<&'static str>) {
    let known = METHODS.into_iter().find(|known| *known == method);
    let verb = known.unwrap_or("HTTP");
    match route {
        Some(route) => {
            span.update_name(format!("{verb} {route}"));
            span.set_attribute(KeyValue::new("http.route", route));
        }
        None => span.update_name(verb),
    }
    let method = known.unwrap_or("_OTHER");
    span.set_attribute(KeyValue::new("http.request.method", method));
    span.set_attribute(KeyValue::new("url.scheme", "http"));
}

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
