//! Logging to stderr, as text or JSON lines. Texts, contexts and keys are never logged.

use std::io::{self, IsTerminal as _};
use std::panic::PanicHookInfo;

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::settings::{LogFormat, LogSettings, cannot_be_used};

/// Turns down what actix logs about its threads and about requests that are not HTTP. A filter that
/// names these targets still shows them.
const QUIET: &str = "actix_server=warn,actix_http=off";

/// Starts logging for the whole process. `default` is the filter when none is set.
pub(crate) fn start(settings: &LogSettings, default: &str) -> anyhow::Result<()> {
    let given = settings.log.as_deref().filter(|filter| !filter.is_empty());
    let filter = given.unwrap_or(default);
    let filter = EnvFilter::try_new(format!("{QUIET},{filter}"))
        .with_context(|| format!("{}: '{filter}'", cannot_be_used("REFRACT_LOG")))?;
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(colours)
        // when stderr is closed, reporting that on stderr would panic
        .log_internal_errors(false)
        .with_writer(io::stderr);
    std::panic::set_hook(Box::new(log_panic));
    match settings.log_format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
    Ok(())
}

/// Logs where the code panicked. The panic message is left out, because it may quote what a caller
/// sent.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(tracing::field::display);
    tracing::error!(location, "the code panicked: this is a bug");
}
