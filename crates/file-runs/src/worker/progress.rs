//! The progress of a run as it is stored: what the next node and the app's pages need, and what the
//! check of the file found.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use refract_service::runs::RunProgress;
use serde::{Deserialize, Serialize};

use crate::check::FileCheck;
use crate::run::{RowsInOrder, RunCounts, RunTally};

/// The time over which the rate is measured.
const RATE_OVER: Duration = Duration::from_secs(30);

/// Measures the rate of a run, and makes its progress.
#[derive(Debug, Default)]
pub(crate) struct ProgressMeter {
    /// Moments with the rows that were finished then.
    moments: VecDeque<(Instant, u64)>,
}

/// The tally of a run that goes on.
pub(crate) fn tally_of(progress: &RunProgress) -> RunTally {
    let cost = RunCounts {
        requests: progress.model_requests,
        input_tokens: progress.input_tokens,
        output_tokens: progress.output_tokens,
        truncated: progress.truncated,
        ..RunCounts::default()
    };
    let in_order = RowsInOrder {
        done_to: progress.done_to_row,
        refused: progress.refused,
        answered_before: progress.answered_before,
        answered: progress.answered,
        failed: progress.failed,
        errors: progress.failures.iter().cloned().collect(),
    };
    RunTally::resumed(cost, in_order)
}

impl ProgressMeter {
    /// The progress at this moment.
    pub(crate) fn progress(&mut self, tally: &RunTally, rows: u64) -> RunProgress {
        let counts = tally.counts();
        let in_order = tally.in_order();
        let progress = RunProgress {
            rows,
            refused: in_order.refused,
            answered_before: in_order.answered_before,
            answered: in_order.answered,
            failed: in_order.failed,
            model_requests: counts.requests,
            input_tokens: counts.input_tokens,
            output_tokens: counts.output_tokens,
            truncated: counts.truncated,
            rows_a_minute: None,
            done_to_row: in_order.done_to,
            failures: in_order.frequent_errors(),
            to_retry: 0,
        };
        RunProgress {
            rows_a_minute: self.rate(Instant::now(), in_order.done_to),
            ..progress
        }
    }

    /// Rows a minute over the last half minute; `None` before the second measurement.
    fn rate(&mut self, now: Instant, done: u64) -> Option<u64> {
        let is_old = |at: Instant| now.duration_since(at) > RATE_OVER;
        while self.moments.len() > 1 && self.moments.front().is_some_and(|(at, _)| is_old(*at)) {
            self.moments.pop_front();
        }
        // a run that began again is measured anew
        if self
            .moments
            .back()
            .is_some_and(|(_, before)| *before > done)
        {
            self.moments.clear();
        }
        let (since, before) = self.moments.front().copied().unwrap_or((now, done));
        self.moments.push_back((now, done));
        let milliseconds = now.duration_since(since).as_millis();
        let milliseconds = u64::try_from(milliseconds).ok()?;
        (done - before)
            .saturating_mul(60_000)
            .checked_div(milliseconds)
    }
}

/// What the check of a file found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckFacts {
    /// The format and the encoding of the file, for people.
    pub kind: String,
    /// Rows of the file, with those that are left out.
    pub rows: u64,
    /// Rows that are left out, since all their fields are empty.
    #[serde(default)]
    pub left_out: u64,
    /// What a person should know about the file, a sentence each.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// Rows that a limit refuses: the model is not asked about them.
    pub refused: u64,
    /// The first hundred refused rows: the line and why the row is refused.
    pub refused_rows: Vec<(u64, String)>,
    /// The names of all columns.
    pub columns: Vec<String>,
    /// Names of the columns that the run does not read.
    pub unused_columns: Vec<String>,
    /// Rows that had an answer.
    pub answered_before: u64,
    /// Requests to the model for the other rows, as estimated.
    pub requests: u64,
    /// Tokens of those requests, as estimated.
    pub tokens: u64,
}

impl CheckFacts {
    /// The facts of a check.
    pub(crate) fn of(check: FileCheck, kind: String) -> Self {
        let remarks = check.remarks();
        let listed = check.listed.into_iter();
        Self {
            kind,
            rows: check.rows_in_file,
            left_out: check.blank,
            remarks,
            refused: check.refused,
            refused_rows: listed.map(|row| (row.line, row.reason)).collect(),
            columns: check.columns,
            unused_columns: check.unused_columns,
            answered_before: check.answered_before,
            requests: check.requests,
            tokens: check.tokens,
        }
    }

    /// Reads stored facts; `None` for anything else.
    pub fn parse(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// The facts as they are stored.
    pub(crate) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Rows of the file, without those that are left out.
    pub fn rows_to_finish(&self) -> u64 {
        self.rows.saturating_sub(self.left_out)
    }

    /// Rows to ask the model about.
    pub fn to_ask(&self) -> u64 {
        self.rows_to_finish()
            .saturating_sub(self.refused)
            .saturating_sub(self.answered_before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_of_the_last_half_minute() {
        let mut meter = ProgressMeter::default();
        let begin = Instant::now();
        let at = |seconds| begin + Duration::from_secs(seconds);
        assert_eq!(meter.rate(at(0), 0), None);
        assert_eq!(meter.rate(at(10), 100), Some(600));
        assert_eq!(meter.rate(at(20), 100), Some(300));
        assert_eq!(meter.rate(at(60), 100), Some(0));
        assert_eq!(meter.rate(at(70), 150), Some(300));
        assert_eq!(meter.rate(at(80), 10), None, "it began again");
        assert_eq!(meter.rate(at(90), 20), Some(60));
    }

    #[test]
    fn what_is_stored_is_what_goes_on() {
        let stored = RunProgress {
            rows: 9,
            refused: 1,
            answered_before: 2,
            answered: 3,
            failed: 2,
            model_requests: 6,
            input_tokens: 70,
            output_tokens: 8,
            truncated: 1,
            rows_a_minute: None,
            done_to_row: 8,
            failures: vec![("b".to_owned(), 1), ("a".to_owned(), 1)],
            to_retry: 0,
        };
        let again = ProgressMeter::default().progress(&tally_of(&stored), 9);
        let sorted = |progress: RunProgress| {
            let mut failures = progress.failures.clone();
            failures.sort();
            RunProgress {
                failures,
                ..progress
            }
        };
        assert_eq!(sorted(again), sorted(stored));
    }
}
