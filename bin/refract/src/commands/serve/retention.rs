//! The task that purges older results while the server runs.

use std::time::Duration;

use refract_service::retention::RetentionRounds;
use tokio::task::JoinHandle;

/// How long a stopping node waits for its lease to be released.
const RELEASE: Duration = Duration::from_secs(5);

/// Starts a task that purges results until `stop` resolves; starts none if results are kept
/// forever.
pub(super) fn start(
    rounds: Option<RetentionRounds>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Option<JoinHandle<()>> {
    rounds.map(|rounds| tokio::spawn(rounds.run(stop)))
}

/// Waits a few seconds at most for the stopped task to release its lease.
pub(super) async fn ended(task: Option<JoinHandle<()>>) {
    if let Some(task) = task {
        // if the database does not answer, the lease expires by itself
        let _ = tokio::time::timeout(RELEASE, task).await;
    }
}
