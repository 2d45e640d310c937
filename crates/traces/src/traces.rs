//! Traces of a process: off, or on with a tracer of spans and their export through a bounded queue
//! by a thread that sends them in batches.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, Key};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use rustls::ClientConfig;
use tokio::runtime::Handle;

use crate::collector::{Collector, CollectorLog};
use crate::environment::{self, TraceSettingError};
use crate::request_trace::RequestTrace;
use crate::spans::{CallerTrace, ProcessTracer};

/// The default name of the service, and the name of the tracer.
const NAME: &str = "refract";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Traces of a process. The default is off. Clones share one export.
#[derive(Clone, Debug, Default)]
pub struct Traces(Option<Arc<ProcessTracer>>);

impl Traces {
    pub(crate) fn on(tracer: ProcessTracer) -> Self {
        Self(Some(Arc::new(tracer)))
    }

    /// Begins the trace of a request, and decides whether it is sampled.
    ///
    /// `route` is the pattern of its path, `None` for a path without a route. `caller` reads the
    /// caller's trace from the request's headers; it is not called when traces are off.
    pub fn begin_request(
        &self,
        method: &str,
        route: Option<&'static str>,
        caller: impl FnOnce() -> Option<CallerTrace>,
    ) -> RequestTrace {
        match &self.0 {
            None => RequestTrace::default(),
            Some(tracer) => RequestTrace::begin(tracer, method, route, caller()),
        }
    }
}

/// Sends spans to the collector until it is [ended](TraceExport::end).
#[derive(Debug)]
pub struct TraceExport {
    provider: SdkTracerProvider,
    traces: Traces,
}

impl TraceExport {
    /// Begins to send spans if the environment names a collector, and returns `None` otherwise.
    /// `with_statements` adds spans of database statements; `tls` makes the TLS configuration, and
    /// is called only if traces are enabled; batches are sent on `runtime`.
    ///
    /// Nothing is sent yet, so an unreachable collector is not an error.
    ///
    /// # Errors
    /// The variable with an invalid value.
    pub fn from_environment(
        with_statements: bool,
        tls: impl FnOnce() -> Option<ClientConfig>,
        runtime: Handle,
    ) -> Result<Option<Self>, TraceSettingError> {
        let Some(settings) = environment::read(|name| std::env::var(name).ok())? else {
            return Ok(None);
        };
        let collector = Collector {
            runtime,
            tls: tls().map(Arc::new).ok_or(TraceSettingError::Tls)?,
            timeout: settings.timeout,
            log: CollectorLog::default(),
        };
        let exporter = SpanExporter::builder().with_http();
        let exporter = exporter.with_http_client(collector).build();
        let exporter = exporter.map_err(|error| TraceSettingError::Sdk(error.to_string()))?;
        let provider = SdkTracerProvider::builder()
            .with_resource(resource())
            .with_batch_exporter(exporter)
            .build();
        let scope = InstrumentationScope::builder(NAME).with_version(VERSION);
        let traces = Traces::on(ProcessTracer {
            tracer: provider.tracer_with_scope(scope.build()),
            with_statements,
        });
        Ok(Some(Self { provider, traces }))
    }

    /// Traces whose spans are sent through this export.
    pub fn traces(&self) -> Traces {
        self.traces.clone()
    }

    /// Sends the queued spans, for at most `within`, and makes no more spans. Blocks the thread. A
    /// failure of the collector has been logged already.
    pub fn end(self, within: Duration) {
        if let Err(error) = self.provider.shutdown_with_timeout(within) {
            tracing::debug!(%error, "the last traces were not sent");
        }
    }
}

/// The resource of the spans: the service's name from the environment, or the default.
fn resource() -> Resource {
    let found = Resource::builder().build();
    let name = found.get(&Key::from_static_str("service.name"));
    let is_named = name.is_some_and(|name| !name.as_str().starts_with("unknown_service"));
    let resource = Resource::builder()
        .with_attributes([opentelemetry::KeyValue::new("service.version", VERSION)]);
    if is_named {
        resource.build()
    } else {
        resource.with_service_name(NAME).build()
    }
}
