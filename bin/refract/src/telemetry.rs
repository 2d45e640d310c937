//! Logs: to stderr, as text or JSON lines. Texts, contexts and keys never reach them.

use std::io;

use anyhow::Context as _;
use tracing_subscriber::EnvFilter;

use crate::settings::{LogFormat, LogSettings};

/// Starts logging for the whole process.
pub fn start(settings: &LogSettings) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&settings.log)
        .with_context(|| format!("REFRACT_LOG cannot be used: '{}'", settings.log))?;
    let logs = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match settings.log_format {
        LogFormat::Text => logs.init(),
        LogFormat::Json => logs.json().flatten_event(true).init(),
    }
    Ok(())
}
