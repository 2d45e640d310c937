//! Logs failures of the collector at most once every five minutes, not for each batch.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Shortest time between two log lines about a collector that keeps failing.
const EVERY: Duration = Duration::from_mins(5);

/// Limits the rate of log lines about the collector.
#[derive(Debug, Default)]
pub(crate) struct CollectorLog {
    /// When a failure was last logged; `None` while batches are accepted.
    last: Mutex<Option<Instant>>,
}

impl CollectorLog {
    /// Logs that the collector did not accept a batch of spans.
    pub(crate) fn failed(&self, reason: &str) {
        if self.is_due(Instant::now()) {
            tracing::warn!(
                reason,
                "the collector does not take traces: spans are dropped, calls go on"
            );
        }
    }

    /// Logs that the collector accepts batches again, if a failure was logged before.
    pub(crate) fn taken(&self) {
        if self.last().take().is_some() {
            tracing::info!("the collector takes traces again");
        }
    }

    fn is_due(&self, now: Instant) -> bool {
        let mut last = self.last();
        if last.is_some_and(|last| now.duration_since(last) < EVERY) {
            return false;
        }
        *last = Some(now);
        true
    }

    fn last(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_that_stays_away_is_mentioned_once_in_a_while() {
        let log = CollectorLog::default();
        let begin = Instant::now();
        let last = |seconds| log.is_due(begin + Duration::from_secs(seconds));
        assert_eq!(
            [0, 5, 299, 300, 301, 600].map(last),
            [true, false, false, true, false, true]
        );
    }

    #[test]
    fn a_collector_that_goes_away_again_is_mentioned_again() {
        let log = CollectorLog::default();
        let now = Instant::now();
        assert!(log.is_due(now));
        log.taken();
        assert!(log.is_due(now));
    }
}
