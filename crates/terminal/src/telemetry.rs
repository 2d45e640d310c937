//! Logging to stderr, as text or JSON lines, and its settings. Texts, contexts and keys are never
//! logged.

mod log_line;

use std::io::{self, IsTerminal as _};
use std::panic::PanicHookInfo;

use clap::{Args, ValueEnum};
use tracing::Dispatch;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{DefaultFields, JsonFields};
use tracing_subscriber::layer::SubscriberExt as _;

use self::log_line::{JsonLine, TextLine};
use crate::arguments::cannot_be_used;

/// Silences actix's log lines about its threads and about requests that are not HTTP. A filter that
/// names these targets still shows them.
const QUIET: &str = "actix_server=warn,actix_http=off";

/// Starts logging for the whole process. `default` is the filter if none is set.
///
/// # Errors
/// The filter is invalid.
pub fn start(settings: &LogSettings, default: &str) -> anyhow::Result<()> {
    let given = settings.log.as_deref().filter(|filter| !filter.is_empty());
    let filter = given.unwrap_or(default);
    let colours = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let subscriber = subscriber(settings.log_format, filter, colours, io::stderr)?;
    std::panic::set_hook(Box::new(log_panic));
    // fails only if a subscriber is already set
    let _ = tracing::dispatcher::set_global_default(subscriber);
    Ok(())
}

/// The subscriber that formats and writes the lines.
fn subscriber<W>(
    format: LogFormat,
    filter: &str,
    colours: bool,
    writer: W,
) -> anyhow::Result<Dispatch>
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    anyhow::ensure!(
        !filter.contains('['),
        "{}: '{filter}': only levels and targets can be filtered",
        cannot_be_used("REFRACT_LOG")
    );
    let directives = filter.split(',').map(str::trim);
    let directives = directives.filter(|directive| !directive.is_empty());
    let directives: Vec<_> = std::iter::once(QUIET).chain(directives).collect();
    let targets: Targets = directives.join(",").parse().map_err(|error| {
        let setting = cannot_be_used("REFRACT_LOG");
        anyhow::anyhow!(
            "{setting}: '{filter}': {error}; write levels and targets, such as \
                 info,refract_http_api=debug"
        )
    })?;
    let logs = tracing_subscriber::fmt()
        // the targets decide
        .with_max_level(LevelFilter::TRACE)
        .with_ansi(colours)
        // a closed stderr is ignored: reporting it on stderr would panic
        .log_internal_errors(false)
        .with_writer(writer);
    Ok(match format {
        LogFormat::Text => logs
            .fmt_fields(DefaultFields::new())
            .event_format(TextLine)
            .finish()
            .with(targets)
            .into(),
        LogFormat::Json => logs
            .fmt_fields(JsonFields::new())
            .event_format(JsonLine)
            .finish()
            .with(targets)
            .into(),
    })
}

/// Logs the location of a panic, without its message, which may quote a caller's text.
fn log_panic(panic: &PanicHookInfo<'_>) {
    let location = panic.location().map(tracing::field::display);
    tracing::error!(location, "the code panicked: this is a bug");
}

/// The settings of the log.
#[derive(Args, Clone)]
#[command(next_help_heading = "Logs")]
pub struct LogSettings {
    /// Tracing filter, such as `info` (the default) or `refract_http_api=debug`
    #[arg(long, env = "REFRACT_LOG", value_name = "FILTER", global = true)]
    pub log: Option<String>,

    /// Log lines as text or as JSON
    #[arg(
        long,
        env = "REFRACT_LOG_FORMAT",
        default_value = "text",
        value_name = "FORMAT",
        global = true
    )]
    pub log_format: LogFormat,
}

/// The format of log lines.
#[derive(Clone, Copy, ValueEnum)]
pub enum LogFormat {
    /// Lines of text, for people.
    Text,
    /// Lines of JSON, for machines.
    Json,
}

#[cfg(test)]
mod tests;
