//! Logging to stderr, as text or JSON lines, and its settings. Texts, contexts and keys are never
//! logged.

mod log_lines;

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal as _};
use std::panic::PanicHookInfo;

use clap::{Args, ValueEnum};
use tracing::field::{Field, Visit};
use tracing::{Dispatch, Event, Level, Subscriber};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::{DefaultFields, JsonFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields, FormattedFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;

use self::log_lines::LogLines;
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
    let format = settings.log_format;
    let notice = match format {
        LogFormat::Text => lost_as_text,
        LogFormat::Json => lost_as_json,
    };
    let lines = LogLines::new(io::stderr(), notice);
    let subscriber = subscriber(format, filter, colours, lines)?;
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

const LOST: &str = "log lines are lost: stderr was read too slowly";

/// The line of text that says how many lines were left out.
fn lost_as_text(lost: u64) -> String {
    format!("{}  WARN {}: {LOST} lost={lost}\n", now(), module_path!())
}

/// The same as a line of JSON.
fn lost_as_json(lost: u64) -> String {
    let (time, target) = (now(), module_path!());
    format!(
        "{{\"timestamp\":\"{time}\",\"level\":\"WARN\",\"message\":\"{LOST}\",\"lost\":{lost},\
         \"target\":\"{target}\"}}\n"
    )
}

/// The time as lines have it.
fn now() -> String {
    let mut time = String::new();
    // fails only where a string cannot be written to
    let _ = SystemTime.format_time(&mut Writer::new(&mut time));
    time
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

/// The field that identifies a request's log lines. An event that sets this field itself already
/// has all fields of its span.
const REQUEST_ID: &str = "request_id";

/// Lines of text: time, level, target, message and fields.
pub(super) struct TextLine;

/// Lines of JSON: the same content as one flat object.
pub(super) struct JsonLine;

impl<S> FormatEvent<S, DefaultFields> for TextLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, DefaultFields>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let is_coloured = line.has_ansi_escapes();
        let (dim, end) = if is_coloured {
            ("\u{1b}[2m", "\u{1b}[0m")
        } else {
            ("", "")
        };
        line.write_str(dim)?;
        SystemTime.format_time(&mut line)?;
        line.write_str(end)?;
        let level = *event.metadata().level();
        if is_coloured {
            write!(line, " {}{level:>5}{end} ", colour(level))?;
        } else {
            write!(line, " {level:>5} ")?;
        }
        write!(line, "{dim}{}:{end} ", event.metadata().target())?;
        context.format_fields(line.by_ref(), event)?;
        each_span(context, event, |fields| write!(line, " {fields}"))?;
        line.write_char('\n')
    }
}

impl<S> FormatEvent<S, JsonFields> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut line: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        line.write_str("{\"timestamp\":\"")?;
        SystemTime.format_time(&mut line)?;
        write!(line, "\",\"level\":\"{}\"", event.metadata().level())?;
        let mut fields = JsonMembers {
            out: &mut line,
            written: Ok(()),
        };
        event.record(&mut fields);
        fields.written?;
        each_span(context, event, |fields| {
            let members = fields.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
            match members {
                Some(members) if !members.is_empty() => write!(line, ",{members}"),
                Some(_) | None => Ok(()),
            }
        })?;
        line.write_str(",\"target\":\"")?;
        write!(Escaped(&mut line), "{}", event.metadata().target())?;
        line.write_str("\"}\n")
    }
}

/// Calls `write` with the formatted fields of each span around an event, the outermost first.
fn each_span<S, N>(
    context: &FmtContext<'_, S, N>,
    event: &Event<'_>,
    mut write: impl FnMut(&str) -> fmt::Result,
) -> fmt::Result
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    if event.metadata().fields().field(REQUEST_ID).is_some() {
        return Ok(());
    }
    let Some(scope) = context.event_scope() else {
        return Ok(());
    };
    for span in scope.from_root() {
        let extensions = span.extensions();
        match extensions.get::<FormattedFields<N>>() {
            Some(fields) if !fields.is_empty() => write(fields)?,
            Some(_) | None => {}
        }
    }
    Ok(())
}

fn colour(level: Level) -> &'static str {
    match level {
        Level::ERROR => "\u{1b}[31m",
        Level::WARN => "\u{1b}[33m",
        Level::INFO => "\u{1b}[32m",
        Level::DEBUG => "\u{1b}[34m",
        Level::TRACE => "\u{1b}[35m",
    }
}

/// Writes the fields of an event as members of an object.
struct JsonMembers<'a, 'w> {
    out: &'a mut Writer<'w>,
    written: fmt::Result,
}

impl JsonMembers<'_, '_> {
    fn value(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        let name = field.name();
        if self.written.is_ok() {
            self.written = write!(self.out, ",\"{}\":{value}", name.trim_start_matches("r#"));
        }
    }

    fn string(&mut self, field: &Field, value: fmt::Arguments<'_>) {
        self.value(field, format_args!("\""));
        if self.written.is_ok() {
            self.written = Escaped(self.out).write_fmt(value);
        }
        if self.written.is_ok() {
            self.written = self.out.write_char('"');
        }
    }
}

impl Visit for JsonMembers<'_, '_> {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if value.is_finite() {
            self.value(field, format_args!("{value}"));
        } else {
            self.value(field, format_args!("null"));
        }
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.value(field, format_args!("{value}"));
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.value(field, format_args!("{value}"));
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.value(field, format_args!("{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.string(field, format_args!("{value}"));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.string(field, format_args!("{value:?}"));
    }
}

/// Writes text as the content of a JSON string.
struct Escaped<'a, 'w>(&'a mut Writer<'w>);

impl fmt::Write for Escaped<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let is_escaped =
            |c: char| c < ' ' || c == '"' || c == '\\' || ('\u{7f}'..='\u{9f}').contains(&c);
        for part in text.split_inclusive(is_escaped) {
            match part.chars().next_back().filter(|c| is_escaped(*c)) {
                None => self.0.write_str(part)?,
                Some(last) => {
                    self.0.write_str(part.trim_end_matches(last))?;
                    match last {
                        '"' | '\\' => write!(self.0, "\\{last}")?,
                        '\n' => self.0.write_str("\\n")?,
                        _ => write!(self.0, "\\u{:04x}", u32::from(last))?,
                    }
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
