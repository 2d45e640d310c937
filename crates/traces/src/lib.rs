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
#[cfg(feature = "export")]
mod traces;

#[cfg(feature = "export")]
pub use self::spans::{CallerTrace, TraceHeaders};
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
pub use traces::{TraceExport, Traces};

/// The request to a model server, and the server's address.
#[derive(Clone, Copy, Debug)]
pub struct ModelAttempt<'a> {
    /// `gen_ai.operation.name`.
    pub operation: &'static str,
    /// `gen_ai.provider.name`: the provider whose format the server speaks.
    pub provider: &'static str,
    /// The model's name in the request.
    pub model: &'a str,
    /// The server's host name or address.
    pub host: &'a str,
    /// The server's port.
    pub port: u16,
    /// Number of earlier attempts.
    pub resends: u32,
}

/// The end of an attempt.
#[derive(Clone, Debug, Default)]
pub struct AttemptEnd {
    /// The status of the server's answer; `None` without an answer.
    pub status: Option<u16>,
    /// The kind of failure; `None` when a usable answer came.
    pub failure: Option<&'static str>,
    /// The model's name as the server sent it.
    pub model: Option<String>,
    /// Tokens read; `None` if the server did not report them.
    pub input_tokens: Option<u64>,
    /// Tokens written; `None` if the server did not report them.
    pub output_tokens: Option<u64>,
}

/// The name of a statement, without values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatementName {
    /// The operation, such as `SELECT`.
    pub operation: &'static str,
    /// The operation and its tables, such as `SELECT api_keys prisms`.
    pub summary: &'static str,
}
