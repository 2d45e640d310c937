//! Traces of calls in OpenTelemetry. A caller's trace is continued. The request, each attempt at
//! the model and, if enabled, each database statement get a span. Spans are sent to a collector
//! over OTLP.
//!
//! No other crate knows OpenTelemetry. [`Traces`] is off unless the environment names a collector
//! ([`TraceExport::from_environment`]). A listener begins a [`RequestTrace`] for each request,
//! which decides whether the request is sampled; the use case passes the request's [`CallTrace`] to
//! the crates for models and databases. When traces are off, all of these are `None`.
//!
//! A span never contains a text, a context, a key, a `ref` or a query string: its attributes come
//! from the few arguments of this crate's functions. This crate knows no use case and decides
//! nothing.

mod collector;
mod collector_log;
mod environment;
mod request_trace;
mod spans;
mod trace_context;
mod traces;

pub use environment::TraceSettingError;
pub use request_trace::{CallTrace, RequestTrace};
pub use spans::{AttemptEnd, AttemptSpan, ModelAttempt, StatementName, StatementSpan};
pub use trace_context::{CallerTrace, TraceHeaders};
pub use traces::{TraceExport, Traces};
