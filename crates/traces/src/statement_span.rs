//! The span of a statement, by OpenTelemetry's conventions for databases: operation and tables,
//! never a value.

use opentelemetry::KeyValue;
use opentelemetry::trace::{Span as _, SpanKind, Status};
use opentelemetry_sdk::trace::Span as SdkSpan;

use crate::traced_call::TracedCall;

/// The name of a statement, without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementName {
    /// The operation, such as `SELECT`.
    pub operation: &'static str,
    /// The operation and its tables, such as `SELECT api_keys prisms`.
    pub summary: &'static str,
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
