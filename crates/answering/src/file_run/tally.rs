//! How far a run is: counted by whoever does the work, read by whoever shows it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use refract_domain::result::SavedResult;
use refract_model_gateway::ModelReport;

/// Counts of one run.
#[derive(Debug, Default)]
pub struct Tally {
    read: AtomicU64,
    refused: AtomicU64,
    answered_before: AtomicU64,
    ok: AtomicU64,
    failed: AtomicU64,
    requests: AtomicU64,
    input_tokens: AtomicU64,
    output_tokens: AtomicU64,
    streak: Mutex<Streak>,
}

/// Failures without an answer between them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Streak {
    pub(crate) failures: u64,
    /// The first row of them that ended.
    pub(crate) line: u64,
    /// The last one's error.
    pub(crate) error: String,
}

/// The counts at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Rows that the check has read.
    pub read: u64,
    /// Rows that a limit refused.
    pub refused: u64,
    /// Rows that had their answer from an earlier run.
    pub answered_before: u64,
    /// Rows that were answered now.
    pub ok: u64,
    /// Rows that failed now.
    pub failed: u64,
    /// Requests to the model.
    pub requests: u64,
    /// Tokens that the model read, where its server told.
    pub input_tokens: u64,
    /// Tokens that the model wrote, where its server told.
    pub output_tokens: u64,
}

impl Counts {
    /// Rows that are done, one way or another.
    pub fn done(&self) -> u64 {
        self.refused + self.answered_before + self.ok + self.failed
    }
}

impl Tally {
    /// The counts now.
    pub fn counts(&self) -> Counts {
        let of = |count: &AtomicU64| count.load(Ordering::Relaxed);
        Counts {
            read: of(&self.read),
            refused: of(&self.refused),
            answered_before: of(&self.answered_before),
            ok: of(&self.ok),
            failed: of(&self.failed),
            requests: of(&self.requests),
            input_tokens: of(&self.input_tokens),
            output_tokens: of(&self.output_tokens),
        }
    }

    pub(crate) fn row_read(&self) {
        add(&self.read, 1);
    }

    pub(crate) fn row_refused(&self) {
        add(&self.refused, 1);
    }

    pub(crate) fn row_was_answered(&self) {
        add(&self.answered_before, 1);
    }

    pub(crate) fn row_asked(&self, line: u64, result: &SavedResult, report: &ModelReport) {
        add(&self.requests, report.requests.into());
        add(&self.input_tokens, report.input_tokens.unwrap_or(0));
        add(&self.output_tokens, report.output_tokens.unwrap_or(0));
        let mut streak = self.streak.lock().unwrap_or_else(PoisonError::into_inner);
        match result.status.error() {
            None => {
                add(&self.ok, 1);
                *streak = Streak::default();
            }
            Some(error) => {
                add(&self.failed, 1);
                if streak.failures == 0 {
                    streak.line = line;
                }
                streak.failures += 1;
                error.clone_into(&mut streak.error);
            }
        }
    }

    /// The failures since the last answer, when they are so many.
    pub(crate) fn streak_of(&self, failures: u64) -> Option<Streak> {
        let streak = self.streak.lock().unwrap_or_else(PoisonError::into_inner);
        (streak.failures >= failures).then(|| streak.clone())
    }
}

fn add(count: &AtomicU64, number: u64) {
    count.fetch_add(number, Ordering::Relaxed);
}
