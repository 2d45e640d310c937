//! The spans below a request's: of an attempt at the model and of a statement, by OpenTelemetry's
//! conventions for generative AI and for databases, with the settings and the tracer of the process.

use std::borrow::Cow;
use std::str::FromStr as _;
use std::sync::Arc;

use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanContext, SpanId, SpanKind, Status, TraceContextExt as _,
    TraceFlags, TraceId, TraceState, Tracer as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span as SdkSpan};

use crate::{AttemptEnd, ModelAttempt, StatementName};

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

/// Name of the header with a trace's id, the parent span and the flags.
const TRACEPARENT: &str = "traceparent";
/// Name of the header with vendor-specific data about a trace.
const TRACESTATE: &str = "tracestate";
/// The most bytes of `tracestate` that are passed on: the standard's minimum, because every model
/// request carries them.
const TRACESTATE_BYTES: usize = 512;

/// The trace that a caller's request belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerTrace(pub(crate) SpanContext);

/// The headers that pass a trace on to another server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHeaders {
    traceparent: String,
    tracestate: Option<String>,
}

impl CallerTrace {
    /// Reads the headers of a request, in the order sent. `None` without exactly one valid
    /// `traceparent`: the request then begins a trace.
    ///
    /// A `tracestate` that cannot be passed on is dropped.
    pub fn read<'a>(
        traceparent: impl IntoIterator<Item = &'a str>,
        tracestate: impl IntoIterator<Item = &'a str>,
    ) -> Option<Self> {
        let mut traceparent = traceparent.into_iter();
        let (trace_id, span_id, flags) = parse(traceparent.next()?)?;
        if traceparent.next().is_some() {
            return None;
        }
        let state = state(tracestate);
        let context = SpanContext::new(trace_id, span_id, flags, true, state);
        context.is_valid().then_some(Self(context))
    }
}

impl TraceHeaders {
    /// The headers that make this span the parent of another server's spans.
    pub(crate) fn of(span: &SpanContext) -> Self {
        let flags = span.trace_flags().to_u8();
        let traceparent = format!("00-{}-{}-{flags:02x}", span.trace_id(), span.span_id());
        let tracestate = span.trace_state().header();
        Self {
            traceparent,
            tracestate: (!tracestate.is_empty()).then_some(tracestate),
        }
    }

    /// Header names in lower case, with values.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let tracestate = self.tracestate.as_deref().map(|value| (TRACESTATE, value));
        std::iter::once((TRACEPARENT, self.traceparent.as_str())).chain(tracestate)
    }
}

/// Reads `version-trace-span-flags` in lower-case hexadecimal. Later versions may append parts.
fn parse(text: &str) -> Option<(TraceId, SpanId, TraceFlags)> {
    let mut parts = text.trim_matches([' ', '\t']).split('-');
    let version = hexadecimal(parts.next()?, 2)?;
    let trace_id = TraceId::from_hex(hexadecimal(parts.next()?, 32)?).ok()?;
    let span_id = SpanId::from_hex(hexadecimal(parts.next()?, 16)?).ok()?;
    let flags = u8::from_str_radix(hexadecimal(parts.next()?, 2)?, 16).ok()?;
    let has_more = parts.next().is_some();
    let is_known = version == "00";
    if version == "ff" || (is_known && has_more) {
        return None;
    }
    Some((trace_id, span_id, TraceFlags::new(flags)))
}

/// The text, if it is exactly `digits` lower-case hexadecimal digits.
fn hexadecimal(text: &str, digits: usize) -> Option<&str> {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (text.len() == digits && text.bytes().all(is_digit)).then_some(text)
}

/// The trace state from one header or several.
fn state<'a>(headers: impl IntoIterator<Item = &'a str>) -> TraceState {
    let mut all = String::new();
    for header in headers {
        if all.len() + header.len() > TRACESTATE_BYTES {
            return TraceState::NONE;
        }
        if !all.is_empty() {
            all.push(',');
        }
        all.push_str(header);
    }
    TraceState::from_str(&all).unwrap_or_default()
}

#[cfg(test)]
mod tests;
