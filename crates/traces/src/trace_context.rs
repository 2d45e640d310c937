//! The W3C Trace Context headers `traceparent` and `tracestate`, read and written.

use std::str::FromStr as _;

use opentelemetry::trace::{SpanContext, SpanId, TraceFlags, TraceId, TraceState};

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
