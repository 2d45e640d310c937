//! The signals that ask the program to stop.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, as they come.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Watches from now on: neither of them ends the program by itself any more.
    pub(crate) fn watch() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?,
        })
    }

    /// Ends at the next one.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
