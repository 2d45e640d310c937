//! The way of spans out of the process: a bounded queue, and a thread that sends batches of it.

use std::sync::Arc;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry::{InstrumentationScope, Key};
use opentelemetry_otlp::{SpanExporter, WithHttpConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use rustls::ClientConfig;
use tokio::runtime::Handle;

use crate::collector::Collector;
use crate::collector_log::CollectorLog;
use crate::environment::{self, TraceSettingError};
use crate::span_maker::SpanMaker;
use crate::traces::Traces;

/// The name of the service, unless the environment says otherwise, and of what makes the spans.
const NAME: &str = "refract";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Sends spans to the collector until it is [ended](TraceExport::end).
#[derive(Debug)]
pub struct TraceExport {
    provider: SdkTracerProvider,
    traces: Traces,
}

impl TraceExport {
    /// Begins to send spans, where the environment names a collector; `None` where it names none.
    /// `with_statements` makes spans of database statements too; `tls` says how certificates are
    /// checked, and is not called where no traces are wanted; batches are sent on `runtime`.
    ///
    /// Nothing is sent yet, so a collector that cannot be reached is no error.
    ///
    /// # Errors
    /// The variable that cannot be used.
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
        let traces = Traces::on(SpanMaker {
            tracer: provider.tracer_with_scope(scope.build()),
            with_statements,
        });
        Ok(Some(Self { provider, traces }))
    }

    /// Makes spans that are sent this way.
    pub fn traces(&self) -> Traces {
        self.traces.clone()
    }

    /// Sends what is still queued, for at most this long, and makes no more spans. Blocks the
    /// thread. A collector that did not take them is mentioned in the log already.
    pub fn end(self, within: Duration) {
        if let Err(error) = self.provider.shutdown_with_timeout(within) {
            tracing::debug!(%error, "the last traces were not sent");
        }
    }
}

/// What the spans come from, with the service's name as the environment has it or ours.
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
