//! The settings of the log.

use clap::{Args, ValueEnum};

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
