//! File runs: one prism version answers row after row, with keys by which a later run finds the
//! results. A file is read by the terminal, or is uploaded and run by whichever node takes the run.
//!
//! Whatever asks about many texts counts their outcomes here, and stops after failures in a row.

mod change_run;
mod pinned_prism;
mod run_lease;
mod stored_bytes;
mod stored_runs;
mod upload_writer;
mod uploads;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use refract_domain::result::file_run::{RunProgress, StoredMapping};
use refract_model_gateway::ModelError;

use crate::Refract;

pub use self::change_run::ChangeRunOutcome;
pub use self::pinned_prism::{HeldRow, PinnedPrism, RunFacts, RunRows, UnansweredRow};
pub use self::run_lease::{
    LeaseOutcome, LeasedRun, RUN_LEASE_RENEWAL, RUN_LEASE_TERM, RunEnd, RunLease,
};
pub use self::stored_bytes::{StoredBytes, StoredBytesReader};
pub use self::stored_runs::{CreateRunError, NewStoredRun, RunPage, StoredRun};
pub use self::upload_writer::{FileName, UploadError, UploadWriter};
pub use self::uploads::{DeleteUploadOutcome, Upload};

/// The use cases of file runs, from [`Refract::runs`](crate::Refract::runs).
#[derive(Clone, Copy)]
pub struct Runs<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// File runs.
    pub fn runs(&self) -> Runs<'_> {
        Runs { refract: self }
    }
}

impl Runs<'_> {
    /// Waits until a person of this node has changed a file run, which may need a node now.
    pub async fn changed(self) {
        self.refract.run_waits.notified().await;
    }
}

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
    /// The host's credit or quota is used up: every further text would fail alike.
    #[error("{error}")]
    CreditUsedUp {
        /// The error of the failure that says so.
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
    /// Failures since the last answer to a text that was begun after the first of them: an answer that
    /// was on its way when the model went away does not say that it is back.
    failures_in_a_row: u64,
    /// Texts that were begun before the first of these failures.
    begun_before: u64,
    begun: BegunTexts,
    /// Failures in a row that stop the work; `None` to never stop.
    threshold: Option<u64>,
}

/// Counts the texts about which the model is asked, when it is first asked. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(crate) struct BegunTexts(Arc<AtomicU64>);

/// The place of a text among those that were begun.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextBegun(u64);

impl BegunTexts {
    /// Counts a text about which the model is asked from now on.
    pub(crate) fn begin(&self) -> TextBegun {
        TextBegun(self.0.fetch_add(1, Ordering::Relaxed))
    }
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

    /// Counts the texts that are begun.
    pub(crate) fn begun(&self) -> BegunTexts {
        self.begun.clone()
    }

    /// Counts a text that was answered, or its error. Stops the work at the threshold of failures
    /// in a row, and at once if the host's credit is used up.
    pub(crate) fn count(&mut self, TextBegun(begun): TextBegun, asked: Result<(), String>) {
        let Err(error) = asked else {
            self.answered += 1;
            if begun >= self.begun_before {
                self.failures_in_a_row = 0;
            }
            return;
        };
        if self.failures_in_a_row == 0 {
            self.begun_before = self.begun.0.load(Ordering::Relaxed);
        }
        self.failures_in_a_row += 1;
        if ModelError::is_about_used_up_credit(&error) {
            self.end.get_or_insert_with(|| EarlyEnd::CreditUsedUp {
                error: error.clone(),
            });
        }
        if self.threshold == Some(self.failures_in_a_row) {
            self.end.get_or_insert_with(|| EarlyEnd::ModelAway {
                failures: self.failures_in_a_row,
                error: error.clone(),
            });
        }
        *self.failed.entry(error).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts that stop at 51 failures in a row.
    fn one_at_a_time() -> AskedTexts {
        AskedTexts::new(AskingPace {
            concurrency: NonZeroUsize::MIN,
            gives_up: true,
        })
    }

    fn fail(asked: &mut AskedTexts, times: u64) {
        for _ in 0..times {
            let begun = asked.begun().begin();
            asked.count(begun, Err("away".to_owned()));
        }
    }

    #[test]
    fn an_answer_that_was_on_its_way_does_not_end_the_failures() {
        let mut asked = one_at_a_time();
        let early = asked.begun().begin();
        fail(&mut asked, 50);
        asked.count(early, Ok(()));
        assert_eq!((asked.answered, &asked.end), (1, &None));
        fail(&mut asked, 1);
        let away = EarlyEnd::ModelAway {
            failures: 51,
            error: "away".to_owned(),
        };
        assert_eq!(asked.end, Some(away));
    }

    #[test]
    fn used_up_credit_ends_the_work_at_once_whatever_the_threshold() {
        let error = ModelError::CreditUsedUp(402).to_string();
        let mut asked = AskedTexts::default();
        let begun = asked.begun().begin();
        asked.count(begun, Err(error.clone()));
        assert_eq!(asked.end, Some(EarlyEnd::CreditUsedUp { error }));
    }

    #[test]
    fn an_answer_to_a_later_text_ends_the_failures() {
        let mut asked = one_at_a_time();
        fail(&mut asked, 50);
        let later = asked.begun().begin();
        asked.count(later, Ok(()));
        fail(&mut asked, 50);
        assert_eq!((asked.failures(), asked.end), (100, None));
    }
}
