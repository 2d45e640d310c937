//! What runs beside `refract serve` and ends at its shutdown: traces, with their settings and last
//! export, and the task that purges older results.

use std::time::Duration;

use clap::Args;
use refract_traces::TraceExport;
use tokio::runtime::Handle;

use refract_service::retention::RetentionRounds;
use refract_terminal::arguments::OnOrOff;
use tokio::task::JoinHandle;

/// The longest wait for the collector to accept the last spans.
const LAST_SPANS: Duration = Duration::from_secs(3);
/// How long a stopping node waits for its lease to be released.
const RELEASE: Duration = Duration::from_secs(5);

/// The settings of traces that the OpenTelemetry standard does not have.
#[derive(Args, Clone)]
#[command(next_help_heading = "Traces")]
pub(crate) struct TraceArgs {
    /// Whether traces show database statements: their tables, never a value
    ///
    /// Traces are sent where `OTEL_EXPORTER_OTLP_ENDPOINT` names a collector.
    #[arg(
        long,
        env = "REFRACT_TRACE_STATEMENTS",
        default_value = "off",
        value_name = "ON_OR_OFF"
    )]
    trace_statements: OnOrOff,
}

impl TraceArgs {
    /// Starts exporting traces if the environment names a collector. Must be called on the main
    /// runtime.
    pub(crate) fn export(&self) -> anyhow::Result<Option<TraceExport>> {
        let tls = || refract_model_gateway::tls_client_config().ok();
        let with_statements = self.trace_statements == OnOrOff::On;
        let export = TraceExport::from_environment(with_statements, tls, Handle::current())?;
        Ok(export)
    }
}

/// Exports the last spans, within the grace period and for a few seconds at most.
pub(crate) async fn end_traces(export: TraceExport, grace: Duration) {
    let within = grace.min(LAST_SPANS);
    // the SDK blocks its thread while the main runtime sends the spans
    let ending = tokio::task::spawn_blocking(move || export.end(within));
    if let Err(error) = ending.await {
        tracing::error!(%error, "the last spans could not be exported");
    }
}

/// Starts a task that purges results until `stop` resolves; starts none if results are kept
/// forever.
pub(super) fn start_retention(
    rounds: Option<RetentionRounds>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Option<JoinHandle<()>> {
    rounds.map(|rounds| tokio::spawn(rounds.run(stop)))
}

/// Waits a few seconds at most for the stopped task to release its lease.
pub(super) async fn retention_ended(task: Option<JoinHandle<()>>) {
    if let Some(task) = task {
        // if the database does not answer, the lease expires by itself
        let _ = tokio::time::timeout(RELEASE, task).await;
    }
}
