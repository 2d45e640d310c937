//! Counts the progress of a run: its threads count, and the terminal reads the counts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use refract_service::model::ModelReport;

/// The running counts of one run.
#[derive(Debug, Default)]
pub struct RunTally {
    checked: AtomicU64,
    refused: AtomicU64,
    answered_before: AtomicU64,
    ok: AtomicU64,
    failed: AtomicU64,
    requests: AtomicU64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    truncated: AtomicU64,
    streak: Mutex<FailureStreak>,
}

/// The failures since the last answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct FailureStreak {
    /// Number of failures: of rows, and of rows that were retried for the rate.
    pub(crate) failures: u64,
    /// The line of the first failed row.
    pub(crate) line: u64,
    /// The error of the last failed row.
    pub(crate) error: String,
}

impl FailureStreak {
    fn add(&mut self, line: u64, error: &str) {
        if self.failures == 0 {
            self.line = line;
        }
        self.failures += 1;
        error.clone_into(&mut self.error);
    }
}

/// Counts of a run at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunCounts {
    /// Rows that the check has read.
    pub checked: u64,
    /// Rows that a limit refuses.
    pub refused: u64,
    /// Rows with an answer from an earlier run.
    pub answered_before: u64,
    /// Rows that this run answered.
    pub ok: u64,
    /// Rows that failed in this run.
    pub failed: u64,
    /// Requests to the model.
    pub requests: u64,
    /// Tokens read by the model, as far as its server reports them.
    pub input_tokens: u64,
    /// Tokens written by the model, as far as its server reports them.
    pub output_tokens: u64,
    /// Rows whose text the model server cut without an error.
    pub truncated: u64,
}

impl RunCounts {
    /// Finished rows: refused, answered or failed.
    pub fn done(&self) -> u64 {
        self.refused + self.answered_before + self.ok + self.failed
    }
}

impl RunTally {
    /// The counts at this moment.
    pub fn counts(&self) -> RunCounts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        RunCounts {
            checked: of(&self.checked),
            refused: of(&self.refused),
            answered_before: of(&self.answered_before),
            ok: of(&self.ok),
            failed: of(&self.failed),
            requests: of(&self.requests),
            input_tokens: of(&self.input_tokens),
            output_tokens: of(&self.output_tokens),
            truncated: of(&self.truncated),
        }
    }

    pub(crate) fn row_checked(&self) {
        add(&self.checked, 1);
    }

    pub(crate) fn row_refused(&self) {
        add(&self.refused, 1);
    }

    pub(crate) fn row_was_answered(&self) {
        add(&self.answered_before, 1);
    }

    /// Counts a row after the model was asked; an `error` means that the row failed.
    pub(crate) fn row_asked(&self, line: u64, error: Option<&str>, report: &ModelReport) {
        self.add_cost(report);
        let mut streak = self.streak();
        match error {
            None => {
                add(&self.ok, 1);
                *streak = FailureStreak::default();
            }
            Some(error) => {
                add(&self.failed, 1);
                streak.add(line, error);
            }
        }
    }

    /// Whether a row that failed for the rate of the model's server is retried: as long as the
    /// failures since the last answer are fewer than the threshold. If so, the failure is counted
    /// among them, but not the row.
    pub(crate) fn may_retry(
        &self,
        line: u64,
        error: Option<&str>,
        report: &ModelReport,
        threshold: u64,
    ) -> bool {
        let mut streak = self.streak();
        if streak.failures >= threshold {
            return false;
        }
        streak.add(line, error.unwrap_or_default());
        drop(streak);
        self.add_cost(report);
        true
    }

    fn add_cost(&self, report: &ModelReport) {
        add(&self.requests, report.requests.into());
        add(&self.input_tokens, report.input_tokens.unwrap_or(0));
        add(&self.output_tokens, report.output_tokens.unwrap_or(0));
        add(&self.truncated, report.truncated_to.is_some().into());
    }

    /// The failures since the last answer; `None` if there are fewer than `threshold`.
    pub(crate) fn failure_streak(&self, threshold: u64) -> Option<FailureStreak> {
        let streak = self.streak();
        (streak.failures >= threshold).then(|| streak.clone())
    }

    fn streak(&self) -> MutexGuard<'_, FailureStreak> {
        self.streak.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn add(count: &AtomicU64, number: u64) {
    count.fetch_add(number, Ordering::Relaxed);
}
