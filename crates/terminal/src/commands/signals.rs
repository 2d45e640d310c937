//! The signals that stop the program.

use anyhow::Context as _;
use rustix::process::Signal as SignalNumber;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Makes a write beyond the file size limit (`ulimit -f`) return an error, as on a full disk,
/// instead of ending the process by SIGXFSZ. Must be called on a runtime.
///
/// # Errors
/// The signal cannot be watched.
pub fn survive_file_size_limit() -> anyhow::Result<()> {
    let kind = SignalKind::from_raw(SignalNumber::XFSZ.as_raw());
    // once watched, a signal never has its default effect again
    signal(kind).map(drop).context("cannot watch for SIGXFSZ")
}

/// The stream of SIGTERM and SIGINT signals.
pub struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Starts watching. From now on neither signal ends the program by default.
    ///
    /// # Errors
    /// A signal cannot be watched.
    pub fn watch() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?,
        })
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        self.next_name().await;
    }

    /// Waits for the next signal, and returns its name.
    pub async fn next_name(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}
