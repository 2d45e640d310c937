//! Asks about many texts at once, at the pace that the model's servers take, counts the outcomes, and
//! gives up after failures in a row.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::ready;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::{Stream, StreamExt as _};
use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use refract_domain::submission::model_input::{State, json_chars};
use refract_model_gateway::{CallPriority, CostEstimate, Estimator, Model, ModelError};

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

/// Counts the texts about which the model is asked, when it is asked. Clones share the count.
#[derive(Clone, Debug, Default)]
pub struct BegunTexts(Arc<AtomicU64>);

/// The place of a text among those that were begun.
#[derive(Clone, Copy, Debug)]
pub struct TextBegun(u64);

impl BegunTexts {
    /// Counts a text about which the model is asked from now on, for the first time or again.
    pub fn begin(&self) -> TextBegun {
        TextBegun(self.0.fetch_add(1, Ordering::Relaxed))
    }
}

/// The failures since the last answer to a text that was begun after the first of them: an answer
/// that was on its way when the model went away does not say that it is back.
#[derive(Clone, Debug, Default)]
pub struct FailureStreak {
    /// Number of failures: of texts, and of texts that were asked about again for the rate.
    pub failures: u64,
    /// The line of the first failed text, where texts have lines.
    pub line: u64,
    /// The error of the last failed text.
    pub error: String,
    /// Texts that were begun before the first failure.
    begun_before: u64,
    /// Whether a text failed because the host's credit is used up. Its line and error are then those
    /// of the streak, and no answer ends it.
    pub is_credit_used_up: bool,
}

impl FailureStreak {
    /// Counts an answer, which ends the streak unless its text was begun before the first failure.
    pub fn answer(&mut self, TextBegun(begun): TextBegun) {
        if begun >= self.begun_before && !self.is_credit_used_up {
            *self = Self::default();
        }
    }

    /// Counts a failure; `begun` counts the texts.
    pub fn fail(&mut self, line: u64, error: &str, begun: &BegunTexts) {
        if self.failures == 0 {
            self.line = line;
            self.begun_before = begun.0.load(Ordering::Relaxed);
        }
        self.failures += 1;
        if self.is_credit_used_up {
            return;
        }
        error.clone_into(&mut self.error);
        if ModelError::is_about_used_up_credit(error) {
            self.is_credit_used_up = true;
            self.line = line;
        }
    }

    /// Whether to give up: the failures reached the threshold, or waiting does not mend them.
    /// Without a threshold, only the latter.
    pub fn is_end(&self, threshold: Option<u64>) -> bool {
        let is_away = threshold.is_some_and(|threshold| self.failures >= threshold);
        is_away || self.is_credit_used_up
    }
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
    streak: FailureStreak,
    begun: BegunTexts,
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

    /// Counts the texts that are begun.
    pub(crate) fn begun(&self) -> BegunTexts {
        self.begun.clone()
    }

    /// Counts a text that was answered, or its error. Stops the work at the threshold of failures
    /// in a row, and at once if the host's credit is used up.
    pub(crate) fn count(&mut self, begun: TextBegun, asked: Result<(), String>) {
        let Err(error) = asked else {
            self.answered += 1;
            self.streak.answer(begun);
            return;
        };
        self.streak.fail(0, &error, &self.begun);
        if self.end.is_none() && self.streak.is_end(self.threshold) {
            let FailureStreak {
                failures, error, ..
            } = self.streak.clone();
            self.end = Some(if self.streak.is_credit_used_up {
                EarlyEnd::CreditUsedUp { error }
            } else {
                EarlyEnd::ModelAway { failures, error }
            });
        }
        *self.failed.entry(error).or_default() += 1;
    }
}

/// What follows a reply, or the caller's wish to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Further requests are begun.
    Begin,
    /// No further request is begun, and those under way are awaited.
    Await,
    /// No further request is begun, and those under way are dropped.
    Drop,
}

impl Next {
    /// Whether to begin further requests, or to await those under way only.
    pub(crate) fn begin_if(is_going_on: bool) -> Self {
        if is_going_on {
            Self::Begin
        } else {
            Self::Await
        }
    }
}

/// Lets some requests be under way at once, and hands over each reply as it arrives, and `None` when
/// `stop` resolves while requests are begun.
pub(crate) async fn ask_each<Request: Future>(
    requests: impl Stream<Item = Request>,
    at_once: NonZeroUsize,
    stop: impl Future<Output = ()>,
    mut take: impl FnMut(Option<Request::Output>) -> Next,
) {
    let is_over = Cell::new(false);
    let requests = requests.take_while(|_| ready(!is_over.get()));
    let replies = requests.buffer_unordered(at_once.get());
    let (mut replies, mut stop) = (std::pin::pin!(replies), std::pin::pin!(stop));
    loop {
        let reply = tokio::select! {
            biased;
            () = &mut stop, if !is_over.get() => None,
            reply = replies.next() => match reply {
                None => return,
                reply => reply,
            },
        };
        match take(reply) {
            Next::Begin => {}
            Next::Await => is_over.set(true),
            Next::Drop => return,
        }
    }
}

/// Adds the estimated cost of asking about a text; `estimator` is that of the version.
pub(crate) fn add_cost(
    cost: &mut CostEstimate,
    estimator: &Estimator,
    version: &PrismVersion,
    submission: &Submission,
) {
    let one = estimator.estimate(json_chars(&State {
        prism_context: version.context(),
        submission,
    }));
    cost.requests += one.requests;
    cost.tokens += one.tokens;
}

/// Asks with the priority of file rows, and asks again about a text that is refused for the rate.
pub(crate) struct PacedModel {
    model: Model,
    /// Refusals for the rate since the last answer.
    refused: Cell<u64>,
    /// The most of them, after which a refusal is a failure.
    threshold: u64,
}

impl PacedModel {
    /// Asks this model, and repeats up to `threshold` refusals for the rate without an answer in
    /// between.
    pub(crate) fn new(model: &Model, threshold: u64) -> Self {
        Self {
            model: model.clone().with_priority(CallPriority::Batch),
            refused: Cell::new(0),
            threshold,
        }
    }

    /// Requests a minute that the model's servers are seen to take; `None` if they refuse none.
    pub(crate) fn learned_per_minute(&self) -> Option<u64> {
        self.model.learned_per_minute()
    }

    /// Asks all questions of a version about a text.
    pub(crate) async fn answer(
        &self,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, ModelError> {
        let mut repeated = 0;
        loop {
            let outcome = self.model.answer(version, submission).await.outcome;
            match outcome {
                Err(error)
                    if error.deserves_repetition(repeated)
                        && self.refused.get() < self.threshold =>
                {
                    repeated += 1;
                    self.refused.set(self.refused.get() + 1);
                }
                Err(error) => return Err(error),
                Ok(answers) => {
                    self.refused.set(0);
                    return Ok(answers);
                }
            }
        }
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
