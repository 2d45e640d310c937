//! Asks about many texts at once, at the pace that the model's servers take.

use std::cell::Cell;
use std::future::ready;
use std::num::NonZeroUsize;

use futures_util::stream::{self, StreamExt as _};
use refract_domain::answer::Answers;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use refract_domain::submission::model_input::{State, json_chars};
use refract_model_gateway::{CallPriority, CostEstimate, Estimator, Model, ModelError};

use crate::runs::EarlyEnd;

/// Lets some requests be under way at once, and hands over each reply as it arrives. When `take`
/// returns false, no further request is begun, and what is under way is awaited. When `stop`
/// resolves, what is under way is dropped, since nothing of it would be saved.
///
/// Returns why the asking ended early, if it was stopped.
pub(super) async fn ask_each<Request: Future>(
    requests: impl Iterator<Item = Request>,
    at_once: NonZeroUsize,
    stop: impl Future<Output = ()>,
    mut take: impl FnMut(Request::Output) -> bool,
) -> Option<EarlyEnd> {
    let is_over = Cell::new(false);
    let requests = stream::iter(requests).take_while(|_| ready(!is_over.get()));
    let replies = requests.buffer_unordered(at_once.get());
    let (mut replies, mut stop) = (std::pin::pin!(replies), std::pin::pin!(stop));
    loop {
        let reply = tokio::select! {
            biased;
            () = &mut stop, if !is_over.get() => return Some(EarlyEnd::Asked),
            reply = replies.next() => reply,
        };
        if !take(reply?) {
            is_over.set(true);
        }
    }
}

/// Adds the estimated cost of asking about a text; `estimator` is that of the version.
pub(super) fn add_cost(
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
pub(super) struct PacedModel {
    model: Model,
    /// Refusals for the rate since the last answer.
    refused: Cell<u64>,
    /// The most of them, after which a refusal is a failure.
    threshold: u64,
}

impl PacedModel {
    /// Asks this model, and repeats up to `threshold` refusals for the rate without an answer in
    /// between.
    pub(super) fn new(model: &Model, threshold: u64) -> Self {
        Self {
            model: model.clone().with_priority(CallPriority::Batch),
            refused: Cell::new(0),
            threshold,
        }
    }

    /// Requests a minute that the model's servers are seen to take; `None` if they refuse none.
    pub(super) fn learned_per_minute(&self) -> Option<u64> {
        self.model.learned_per_minute()
    }

    /// Asks all questions of a version about a text.
    pub(super) async fn answer(
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
