//! The spans below a request's: of an attempt at the model and of a statement, by OpenTelemetry's
//! conventions for generative AI and for databases, with the settings and the tracer of the process.

use std::borrow::Cow;
use std::sync::Arc;

use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span as SdkSpan};

use crate::attributes::{AttemptEnd, ModelAttempt, StatementName};
use crate::trace_context::TraceHeaders;

/// Makes the spans of a process.
#[derive(Debug)]
pub(crate) struct ProcessTracer {
    pub(crate) tracer: SdkTracer,
    /// Whether the statements of sampled requests get spans.
    pub(crate) with_statements: bool,
}

impl ProcessTracer {
    /// Decides whether a span is recorded, and begins it. `parent` is the caller's span or ours.
    ///
    /// A span that is not recorded has only its ids.
    pub(crate) fn begin(
        &self,
        name: impl Into<Cow<'static, str>>,
        kind: SpanKind,
        attributes: Option<Vec<KeyValue>>,
        parent: &Context,
    ) -> SdkSpan {
        let mut builder = SpanBuilder::from_name(name).with_kind(kind);
        builder.attributes = attributes;
        self.tracer.build_with_context(builder, parent)
    }
}

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

/// An attempt at the model in progress. An attempt that is dropped before its end counts as
/// abandoned.
#[derive(Debug, Default)]
#[must_use]
pub struct AttemptSpan(Option<Box<BegunAttempt>>);

#[derive(Debug)]
struct BegunAttempt {
    /// `None` when the request is not sampled.
    span: Option<SdkSpan>,
    headers: TraceHeaders,
}

impl AttemptSpan {
    pub(crate) fn begin<'a>(call: &TracedCall, attempt: impl FnOnce() -> ModelAttempt<'a>) -> Self {
        if !call.is_sampled {
            let headers = TraceHeaders::of(call.request.span().span_context());
            return Self(Some(Box::new(BegunAttempt {
                span: None,
                headers,
            })));
        }
        let attempt = attempt();
        let name = format!("{} {}", attempt.operation, attempt.model);
        let attributes = Some(attributes(&attempt));
        let parent = &call.request;
        let span = call
            .tracer
            .begin(name, SpanKind::Client, attributes, parent);
        let headers = TraceHeaders::of(span.span_context());
        let span = Some(span);
        Self(Some(Box::new(BegunAttempt { span, headers })))
    }

    /// The headers that pass the trace on to the model server; `None` when traces are off.
    pub fn headers(&self) -> Option<&TraceHeaders> {
        self.0.as_ref().map(|begun| &begun.headers)
    }

    /// Whether the end of the attempt is recorded.
    pub fn is_recording(&self) -> bool {
        self.0.as_ref().is_some_and(|begun| begun.span.is_some())
    }

    /// Ends the attempt.
    pub fn end(mut self, end: AttemptEnd) {
        let Some(mut span) = self.take_span() else {
            return;
        };
        let count = |tokens| i64::try_from(tokens).unwrap_or(i64::MAX);
        if let Some(status) = end.status {
            let status = KeyValue::new("http.response.status_code", i64::from(status));
            span.set_attribute(status);
        }
        if let Some(model) = end.model {
            span.set_attribute(KeyValue::new("gen_ai.response.model", model));
        }
        if let Some(tokens) = end.input_tokens {
            span.set_attribute(KeyValue::new("gen_ai.usage.input_tokens", count(tokens)));
        }
        if let Some(tokens) = end.output_tokens {
            span.set_attribute(KeyValue::new("gen_ai.usage.output_tokens", count(tokens)));
        }
        let refused = end.status.filter(|status| *status != 200);
        let refused = refused.map(|status| status.to_string());
        if let Some(error) = refused.or(end.failure.map(str::to_owned)) {
            fail(&mut span, error);
        }
        span.end();
    }

    fn take_span(&mut self) -> Option<SdkSpan> {
        self.0.take().and_then(|begun| begun.span)
    }
}

impl Drop for AttemptSpan {
    fn drop(&mut self) {
        if let Some(mut span) = self.take_span() {
            fail(&mut span, "abandoned".to_owned());
        }
    }
}

fn attributes(attempt: &ModelAttempt<'_>) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new("gen_ai.operation.name", attempt.operation),
        KeyValue::new("gen_ai.provider.name", attempt.provider),
        KeyValue::new("gen_ai.request.model", attempt.model.to_owned()),
        KeyValue::new("http.request.method", "POST"),
        KeyValue::new("server.address", attempt.host.to_owned()),
        KeyValue::new("server.port", i64::from(attempt.port)),
    ];
    if attempt.resends > 0 {
        let resends = i64::from(attempt.resends);
        attributes.push(KeyValue::new("http.request.resend_count", resends));
    }
    attributes
}

fn fail(span: &mut SdkSpan, error: String) {
    span.set_attribute(KeyValue::new("error.type", error));
    span.set_status(Status::error(""));
}

/// A statement in progress. Its span ends when the value is dropped, at the latest.
#[derive(Debug, Default)]
#[must_use]
pub struct StatementSpan(Option<Box<SdkSpan>>);

impl StatementSpan {
    pub(crate) fn begin(call: &TracedCall, system: &'static str, name: &StatementName) -> Self {
        let attributes = Some(vec![
            KeyValue::new("db.system.name", system),
            KeyValue::new("db.operation.name", name.operation),
            KeyValue::new("db.query.summary", name.summary),
        ]);
        let parent = &call.request;
        let begun = call
            .tracer
            .begin(name.summary, SpanKind::Client, attributes, parent);
        Self(Some(Box::new(begun)))
    }

    /// Ends the statement; `error` is the kind of failure, `None` on success.
    pub fn end(self, error: Option<&'static str>) {
        let Some(mut span) = self.0 else {
            return;
        };
        if let Some(error) = error {
            span.set_attribute(KeyValue::new("error.type", error));
            span.set_status(Status::error(""));
        }
        span.end();
    }
}
