//! The signals on which the program stops.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The stream of SIGTERM and SIGINT signals.
pub(crate) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Starts watching. From now on neither signal ends the program by itself.
    pub(crate) fn watch() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot watch for SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot watch for SIGINT")?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
