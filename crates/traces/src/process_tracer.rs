//! Settings and tracer for all spans of a process.

use std::borrow::Cow;

use opentelemetry::trace::{SpanBuilder, SpanKind, Tracer as _};
use opentelemetry::{Context, KeyValue};
use opentelemetry_sdk::trace::{SdkTracer, Span as SdkSpan};

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
