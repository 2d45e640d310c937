//! Counts the progress of a run: its threads count, and the terminal reads the counts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use refract_domain::result::cost::Cost;
use refract_domain::result::file_run::FileRunLimits;
use refract_service::model::ModelReport;
use refract_service::runs::{BegunTexts, FailureStreak, TextBegun};

use tokio::sync::Notify;

use crate::run::row_chunks::{RowEnd, RowsInOrder};
use crate::run::settings::{BegunRows, NextRow, ReachedLimit, Used};

/// The running counts of one run.
#[derive(Debug, Default)]
pub struct RunTally {
    /// Rows that were begun, those that were retried for the rate once more.
    begun: BegunTexts,
    counted: Mutex<CountedRows>,
    /// Notified when a row has ended.
    row_ended: Notify,
}

#[derive(Debug, Default)]
struct CountedRows {
    counts: RunCounts,
    streak: FailureStreak,
    in_order: RowsInOrder,
    rows: BegunRows,
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
    /// What the requests of this process cost, as the host reports it or by the set prices; `None`
    /// if no cost is known.
    pub cost: Option<Cost>,
}

impl RunCounts {
    /// Finished rows: refused, answered or failed.
    pub fn done(&self) -> u64 {
        self.refused + self.answered_before + self.ok + self.failed
    }

    fn add_cost(&mut self, report: &ModelReport) {
        self.requests += u64::from(report.requests);
        self.input_tokens += report.input_tokens.unwrap_or(0);
        self.output_tokens += report.output_tokens.unwrap_or(0);
        self.truncated += u64::from(report.truncated_to.is_some());
        if let Some(cost) = report.cost {
            self.cost = Some([self.cost.unwrap_or_default(), cost].into_iter().sum());
        }
    }
}

impl CountedRows {
    fn add_cost(&mut self, report: &ModelReport) {
        self.counts.add_cost(report);
        let used = &mut self.rows.used;
        used.model_requests += u64::from(report.requests);
        used.tokens += report.input_tokens.unwrap_or(0) + report.output_tokens.unwrap_or(0);
    }
}

impl RunTally {
    /// The counts of a run that goes on after an interruption: what it cost until then, and the
    /// rows that need no work any more.
    pub(crate) fn resumed(cost: RunCounts, in_order: RowsInOrder) -> Self {
        let counted = CountedRows {
            counts: RunCounts {
                failed: in_order.failed,
                ..cost
            },
            streak: FailureStreak::default(),
            in_order,
            rows: BegunRows::default(),
        };
        Self {
            counted: Mutex::new(counted),
            ..Self::default()
        }
    }

    /// The counts at this moment.
    pub fn counts(&self) -> RunCounts {
        self.counted().counts
    }

    /// The finished rows before the first unfinished one.
    pub(crate) fn in_order(&self) -> RowsInOrder {
        self.counted().in_order.clone()
    }

    /// Begins at the first row again, and retries the rows that failed. What was spent still counts.
    pub(crate) fn begin_again(&self) {
        let mut counted = self.counted();
        counted.counts.failed = 0;
        counted.in_order = RowsInOrder::default();
        counted.streak = FailureStreak::default();
    }

    /// Counts the next row in the order of the file.
    pub(crate) fn next_in_order(&self, number: u64, end: RowEnd<'_>) {
        self.counted().in_order.add(number, end);
    }

    /// Waits until a further row fits into the limits beside those in flight.
    ///
    /// # Errors
    /// The limit that is reached.
    pub(crate) async fn row_may_begin(&self, limits: FileRunLimits) -> Result<(), ReachedLimit> {
        loop {
            match self.next_row(limits) {
                NextRow::Begins => return Ok(()),
                NextRow::Exceeds(limit) => return Err(limit),
                // a row that ended since the look has left its notice
                NextRow::Waits => self.row_ended.notified().await,
            }
        }
    }

    fn next_row(&self, limits: FileRunLimits) -> NextRow {
        let counted = self.counted();
        let counts = &counted.counts;
        let used = Used {
            model_requests: counts.requests,
            tokens: counts.input_tokens.saturating_add(counts.output_tokens),
            failed_rows: counts.failed,
        };
        NextRow::of(limits, used, &counted.rows)
    }

    /// Counts a row that a worker gets.
    pub(crate) fn row_given(&self) {
        self.counted().rows.in_flight += 1;
    }

    /// Counts a row that a worker is done with.
    pub(crate) fn row_ended(&self) {
        {
            let rows = &mut self.counted().rows;
            rows.in_flight -= 1;
            rows.ended += 1;
        }
        self.row_ended.notify_one();
    }

    pub(crate) fn row_checked(&self) {
        self.counted().counts.checked += 1;
    }

    pub(crate) fn row_refused(&self) {
        self.counted().counts.refused += 1;
    }

    pub(crate) fn row_was_answered(&self) {
        self.counted().counts.answered_before += 1;
    }

    /// Counts a row about which the model is asked from now on, for the first time or again.
    pub(crate) fn row_begun(&self) -> TextBegun {
        self.begun.begin()
    }

    /// Counts a row after the model was asked; an `error` means that the row failed.
    pub(crate) fn row_asked(
        &self,
        begun: TextBegun,
        line: u64,
        error: Option<&str>,
        report: &ModelReport,
    ) {
        let mut counted = self.counted();
        counted.add_cost(report);
        counted.rows.used.failed_rows += u64::from(error.is_some());
        match error {
            None => {
                counted.counts.ok += 1;
                counted.streak.answer(begun);
            }
            Some(error) => {
                counted.counts.failed += 1;
                counted.streak.fail(line, error, &self.begun);
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
        let mut counted = self.counted();
        if counted.streak.failures >= threshold {
            return false;
        }
        let error = error.unwrap_or_default();
        counted.streak.fail(line, error, &self.begun);
        counted.add_cost(report);
        true
    }

    /// The failures since the last answer; `None` if there are fewer than `threshold`, or the run
    /// never gives up and has none, and waiting may mend them.
    pub(crate) fn failure_streak(&self, threshold: Option<u64>) -> Option<FailureStreak> {
        let counted = self.counted();
        let streak = &counted.streak;
        streak.is_end(threshold).then(|| streak.clone())
    }

    fn counted(&self) -> MutexGuard<'_, CountedRows> {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use refract_service::model::{ModelError, ParsedOutcomes};

    use super::*;

    fn report() -> ModelReport {
        ModelReport {
            protocol: "systemone",
            prompt_version: None,
            model: None,
            input_tokens: None,
            cached_tokens: None,
            cache_written_tokens: None,
            output_tokens: None,
            cost: None,
            host_request_id: None,
            truncated_to: None,
            requests: 1,
            attempts: 1,
            parsed: ParsedOutcomes::default(),
        }
    }

    #[test]
    fn an_answer_that_was_on_its_way_does_not_end_the_failures() {
        let tally = RunTally::default();
        let early = tally.row_begun();
        for line in 2..5 {
            let begun = tally.row_begun();
            tally.row_asked(begun, line, Some("away"), &report());
        }
        tally.row_asked(early, 1, None, &report());
        let streak = tally.failure_streak(Some(3)).unwrap();
        assert_eq!((streak.failures, streak.line), (3, 2));
    }

    #[test]
    fn used_up_credit_stops_even_a_run_that_never_gives_up() {
        let tally = RunTally::default();
        let error = ModelError::CreditUsedUp(429).to_string();
        for (line, error) in [
            (1, Some("away")),
            (2, Some(error.as_str())),
            (3, None),
            (4, Some("away")),
        ] {
            let begun = tally.row_begun();
            tally.row_asked(begun, line, error, &report());
        }
        let streak = tally.failure_streak(None).unwrap();
        assert_eq!((streak.line, streak.error), (2, error));
    }

    #[test]
    fn an_answer_to_a_later_row_ends_the_failures() {
        let tally = RunTally::default();
        let failed = tally.row_begun();
        tally.row_asked(failed, 1, Some("away"), &report());
        let later = tally.row_begun();
        tally.row_asked(later, 2, None, &report());
        assert!(tally.failure_streak(Some(1)).is_none());
        assert_eq!((tally.counts().ok, tally.counts().failed), (1, 1));
    }
}
