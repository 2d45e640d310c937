//! Work on many texts with the model: the outcomes, and when failures in a row stop it.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The failure threshold for texts that are processed one at a time.
const FAILURES_IN_A_ROW: u64 = 50;

/// The number of failures in a row, without an answer in between, after which work on many texts
/// stops: 50, and one for each text that may be in flight when the first of them fails.
pub fn failure_threshold(concurrency: NonZeroUsize) -> u64 {
    let in_flight = u64::try_from(concurrency.get()).unwrap_or(u64::MAX);
    FAILURES_IN_A_ROW.saturating_add(in_flight)
}

/// Number of texts in flight, and when to give up.
#[derive(Clone, Copy, Debug)]
pub struct AskingPace {
    /// Number of texts in flight.
    pub concurrency: NonZeroUsize,
    /// Whether to stop when the failures in a row reach [`failure_threshold`].
    pub gives_up: bool,
}

/// Why work on many texts ended before the last text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EarlyEnd {
    /// The caller asked to stop.
    #[error("it was stopped")]
    Asked,
    /// The failures in a row reached [`failure_threshold`].
    #[error("the model failed {failures} times in a row: {error}")]
    ModelAway {
        /// Number of failures without an answer in between.
        failures: u64,
        /// The error of the last failure.
        error: String,
    },
}

/// Counts of the texts that the model was asked about.
#[derive(Clone, Debug, Default)]
pub struct AskedTexts {
    /// Texts that were answered.
    pub answered: u64,
    /// Texts that failed, by error.
    pub failed: BTreeMap<String, u64>,
    /// Why the model is asked about no further text; `None` while it is asked.
    pub end: Option<EarlyEnd>,
    /// Failures since the last answer.
    failures_in_a_row: u64,
    /// Failures in a row that stop the work; `None` to never stop.
    threshold: Option<u64>,
}

impl AskedTexts {
    /// Counts before the first text.
    pub(crate) fn new(pace: AskingPace) -> Self {
        let threshold = failure_threshold(pace.concurrency);
        Self {
            threshold: pace.gives_up.then_some(threshold),
            ..Self::default()
        }
    }

    /// Number of texts that failed.
    pub fn failures(&self) -> u64 {
        self.failed.values().sum()
    }

    /// Counts a text that was answered, or its error. Stops the work at the threshold of failures
    /// in a row.
    pub(crate) fn count(&mut self, asked: Result<(), String>) {
        let Err(error) = asked else {
            self.answered += 1;
            self.failures_in_a_row = 0;
            return;
        };
        self.failures_in_a_row += 1;
        if self.threshold == Some(self.failures_in_a_row) {
            self.end.get_or_insert_with(|| EarlyEnd::ModelAway {
                failures: self.failures_in_a_row,
                error: error.clone(),
            });
        }
        *self.failed.entry(error).or_default() += 1;
    }
}
