//! The crate without the feature `export`: the same types, which trace nothing.

use std::convert::Infallible;
use std::fmt;
use std::time::Duration;

use rustls::ClientConfig;
use tokio::runtime::Handle;

use crate::environment::{self, TraceSettingError};
use crate::{AttemptEnd, ModelAttempt, StatementName};

/// The tracer of the process: always off.
#[derive(Clone, Debug, Default)]
pub struct Traces(());

impl Traces {
    /// Begins the trace of a request, which is not recorded.
    pub fn begin_request(
        &self,
        _method: &str,
        _route: Option<&'static str>,
        _caller: impl FnOnce() -> Option<CallerTrace>,
    ) -> RequestTrace {
        RequestTrace(())
    }
}

/// The export of spans: there is none.
#[derive(Debug)]
pub struct TraceExport(Infallible);

impl TraceExport {
    /// `None` unless the environment names a collector.
    ///
    /// # Errors
    /// When it does, or has a setting that cannot be used.
    pub fn from_environment(
        _with_statements: bool,
        _tls: impl FnOnce() -> Option<ClientConfig>,
        _runtime: Handle,
    ) -> Result<Option<Self>, TraceSettingError> {
        match environment::read(|name| std::env::var(name).ok())? {
            None => Ok(None),
            Some(_) => Err(TraceSettingError::NotBuilt),
        }
    }

    /// The tracer of the process.
    pub fn traces(&self) -> Traces {
        match self.0 {}
    }

    /// Sends what is left.
    pub fn end(self, _within: Duration) {
        match self.0 {}
    }
}

/// A caller's trace, which is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerTrace(Infallible);

impl CallerTrace {
    /// Always `None`.
    pub fn read<'a>(
        _traceparent: impl IntoIterator<Item = &'a str>,
        _tracestate: impl IntoIterator<Item = &'a str>,
    ) -> Option<Self> {
        None
    }
}

/// The headers of a trace: there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceHeaders(Infallible);

impl TraceHeaders {
    /// The headers, by name.
    pub fn entries(&self) -> impl Iterator<Item = (&'static str, &str)> {
        match self.0 {}
        #[expect(unreachable_code, reason = "the type of what is never made")]
        std::iter::empty()
    }
}

/// The trace of a request, which is not recorded.
#[derive(Debug, Default)]
pub struct RequestTrace(());

impl RequestTrace {
    /// Always `None`.
    pub fn call(&self) -> Option<CallTrace> {
        None
    }

    /// Always `None`.
    pub fn trace_id(&self) -> Option<impl fmt::Display + use<>> {
        None::<&str>
    }

    /// Always `None`.
    pub fn span_id(&self) -> Option<impl fmt::Display + use<>> {
        None::<&str>
    }

    /// Records nothing.
    pub fn answered_with(&mut self, _prism: &str, _result: &impl fmt::Display) {}

    /// Records nothing.
    pub fn end(&mut self, _status: u16) {}
}

/// The trace of a call, which is not recorded.
#[derive(Clone, Debug, Default)]
pub struct CallTrace(());

impl CallTrace {
    /// An attempt that is not recorded.
    pub fn begin_attempt<'a>(&self, _attempt: impl FnOnce() -> ModelAttempt<'a>) -> AttemptSpan {
        AttemptSpan(())
    }

    /// A statement that is not recorded.
    pub fn begin_statement(
        &self,
        _system: &'static str,
        _statement: &StatementName,
    ) -> StatementSpan {
        StatementSpan(())
    }
}

/// An attempt at the model, which is not recorded.
#[derive(Debug, Default)]
#[must_use]
pub struct AttemptSpan(());

impl AttemptSpan {
    /// Always `None`.
    pub fn headers(&self) -> Option<&TraceHeaders> {
        None
    }

    /// Always `false`.
    pub fn is_recording(&self) -> bool {
        false
    }

    /// Records nothing.
    pub fn end(self, _end: AttemptEnd) {}
}

/// A statement, which is not recorded.
#[derive(Debug, Default)]
#[must_use]
pub struct StatementSpan(());

impl StatementSpan {
    /// Records nothing.
    pub fn end(self, _error: Option<&'static str>) {}
}
