//! The retention period of results, and the task that purges older ones while the server runs.

use std::num::NonZeroU32;
use std::time::Duration;

use clap::Args;
use refract_service::Refract;
use tokio::task::JoinHandle;

use refract_terminal::arguments::{self, OnOrOff};

/// How long a stopping node waits for its lease to be released.
const RELEASE: Duration = Duration::from_secs(5);

/// How long results are kept.
#[derive(Args, Clone, Copy)]
#[command(next_help_heading = "Results")]
pub(super) struct RetentionArgs {
    /// Days after which results are purged in the background [default: never]
    #[arg(long, env = "REFRACT_RETENTION_DAYS", value_name = "DAYS", value_parser = arguments::days::<NonZeroU32>)]
    retention_days: Option<NonZeroU32>,

    /// `on` lets the first round of purging after the start delete whatever the clock and the share of
    /// results say; later rounds are checked again
    ///
    /// For retention that was just switched on or shortened, where most results are to go.
    #[arg(
        long,
        env = "REFRACT_RETENTION_UNCHECKED",
        default_value = "off",
        value_name = "ON_OR_OFF"
    )]
    retention_unchecked: OnOrOff,
}

impl RetentionArgs {
    /// Starts a task that purges results until `stop` resolves; `None` if they are kept forever.
    pub(super) fn start(
        self,
        refract: &Refract,
        stop: impl Future<Output = ()> + Send + 'static,
    ) -> Option<JoinHandle<()>> {
        let retention = refract.retention().rounds(self.retention_days?);
        let retention = match self.retention_unchecked {
            OnOrOff::On => retention.with_unchecked_first_round(),
            OnOrOff::Off => retention,
        };
        Some(tokio::spawn(retention.run(stop)))
    }
}

/// Waits a few seconds at most for the stopped task to release its lease.
pub(super) async fn ended(task: Option<JoinHandle<()>>) {
    if let Some(task) = task {
        // if the database does not answer, the lease expires by itself
        let _ = tokio::time::timeout(RELEASE, task).await;
    }
}
