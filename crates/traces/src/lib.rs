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
//!
//! Without the feature `export` nothing is traced, and an environment that names a collector is an
//! error.

mod attributes;
#[cfg(feature = "export")]
mod collector;
mod environment;
#[cfg(not(feature = "export"))]
mod not_built;
#[cfg(feature = "export")]
mod request_trace;
#[cfg(feature = "export")]
mod spans;
#[cfg(feature = "export")]
mod trace_context;
#[cfg(feature = "export")]
mod traces;

pub use attributes::{AttemptEnd, ModelAttempt, StatementName};
pub use environment::TraceSettingError;
#[cfg(not(feature = "export"))]
pub use not_built::{
    AttemptSpan, CallTrace, CallerTrace, RequestTrace, StatementSpan, TraceExport, TraceHeaders,
    Traces,
};
#[cfg(feature = "export")]
pub use request_trace::{CallTrace, RequestTrace};
#[cfg(feature = "export")]
pub use spans::{AttemptSpan, StatementSpan};
#[cfg(feature = "export")]
pub use trace_context::{CallerTrace, TraceHeaders};
#[cfg(feature = "export")]
pub use traces::{TraceExport, Traces};
