//! Trials: runs several versions on one text, or an unsaved version on stored texts.

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use refract_domain::answer::Answers;
use refract_domain::lens::cutoffs_of;
use refract_domain::prism::question::Question;
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::submission::budget::{self, OverBudget};
use refract_domain::submission::model_input::{State, json_chars};
use refract_domain::submission::reference::Ref;
use refract_domain::submission::{CallContext, SentFields, Submission};
use refract_evaluation::prediction::predicted;
use refract_identity::people::AccountActor;
use refract_model_gateway::ModelError;

use crate::prisms::Prisms;
use crate::results::create::CreateCall;
use crate::results::read::ReadableResult;
use crate::{CallError, InternalError};

/// Most stored texts on which an unsaved version is tried.
pub const TRIAL_TEXTS: usize = 5;
/// Most stored texts that are in flight to the model at the same time.
const AT_ONCE: usize = 3;

/// A stored result and the answers of an unsaved version to its text.
pub struct TrialPair {
    /// The result with its answers, or its error, as it is stored.
    pub stored: ReadableResult,
    /// The answers of the unsaved version, or why there are none.
    pub answers: Result<Answers, TrialError>,
}

/// The cost of [`Prisms::try_draft`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DraftTrialCost {
    /// Number of stored texts that the model is asked about.
    pub texts: usize,
    /// Estimated model requests for all of them, without retries; 0 for the built-in scorer.
    pub requests: usize,
}

/// Why an unsaved version has no answers to a text.
#[derive(Debug, thiserror::Error)]
pub enum TrialError {
    /// The text is too large for the version.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The model gave no usable answer.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The service failed.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

impl Prisms<'_> {
    /// Runs versions of a prism on one text at the same time, and saves a result of each, in the
    /// order of `versions`.
    ///
    /// A version whose fields differ from those that were sent refuses the call, as always; the
    /// others answer.
    pub async fn try_on(
        self,
        actor: AccountActor,
        prism: &PrismSelector,
        fields: &SentFields,
        context: Option<&CallContext>,
        reference: Option<&Ref>,
        versions: &[VersionNumber],
    ) -> Vec<Result<ReadableResult, CallError>> {
        let results = self.refract.results();
        let calls = versions.iter().map(|version| {
            let call = CreateCall {
                prism: prism.clone(),
                fields: fields.clone(),
                context: context.cloned(),
                reference: reference.cloned(),
                version: Some(*version),
                idempotency_key: None,
            };
            results.create_as(actor.clone(), call)
        });
        join_all(calls).await
    }

    /// Asks an unsaved version about the texts of the first [`TRIAL_TEXTS`] results, and saves
    /// nothing. A result that lacks one of the version's fields is left out; a field that the
    /// version lacks is ignored.
    pub async fn try_draft(
        self,
        draft: &PrismVersion,
        results: &[ReadableResult],
    ) -> Vec<TrialPair> {
        let trials = trial_texts(draft, results).map(|(stored, submission)| async move {
            let answers = self.answer_draft(draft, &submission).await;
            TrialPair {
                stored: stored.clone(),
                answers,
            }
        });
        stream::iter(trials.collect::<Vec<_>>())
            .buffered(AT_ONCE)
            .collect()
            .await
    }

    /// Asks an unsaved version about texts that are not stored, and saves nothing. The answers are
    /// in the order of the texts.
    pub async fn try_texts(
        self,
        draft: &PrismVersion,
        texts: &[Submission],
    ) -> Vec<Result<Answers, TrialError>> {
        let trials = texts.iter().map(|text| self.answer_draft(draft, text));
        stream::iter(trials.collect::<Vec<_>>())
            .buffered(AT_ONCE)
            .collect()
            .await
    }

    /// The cost of [`Prisms::try_draft`]. A text that is too large for the version is not counted.
    pub fn draft_trial_cost(
        self,
        draft: &PrismVersion,
        results: &[ReadableResult],
    ) -> DraftTrialCost {
        let mut cost = DraftTrialCost::default();
        let Ok(model) = self.refract.model() else {
            return cost;
        };
        let estimator = model.estimator(draft);
        for (_, submission) in trial_texts(draft, results) {
            if budget::check(draft, &submission).is_ok() {
                let state_chars = json_chars(&State {
                    prism_context: draft.context(),
                    submission: &submission,
                });
                cost.texts += 1;
                cost.requests += estimator.estimate(state_chars).requests;
            }
        }
        cost
    }

    /// Asks an unsaved version about a text, and saves nothing.
    pub(super) async fn answer_draft(
        self,
        draft: &PrismVersion,
        submission: &Submission,
    ) -> Result<Answers, TrialError> {
        budget::check(draft, submission)?;
        let results = self.refract.results();
        Ok(results.ask(draft, submission).await?.outcome?)
    }
}

impl TrialPair {
    /// Whether the unsaved version answers a question of its own differently than the stored
    /// result, as the lens reads both. `false` for a question that was not asked before or was not
    /// answered.
    pub fn changes(&self, question: &Question) -> bool {
        let stored = self.stored.view();
        let before = stored.questions.iter().find(|it| it.key == question.key);
        let answered = stored.status.answers().zip(self.answers.as_ref().ok());
        let Some((before, (old, new))) = before.zip(answered) else {
            return false;
        };
        let cutoffs = cutoffs_of(self.stored.columns().lens, &question.key);
        let (old, new) = (old.get(&question.key), new.get(&question.key));
        old.zip(new).is_some_and(|(old, new)| {
            predicted(before, old, cutoffs) != predicted(question, new, cutoffs)
        })
    }
}

/// The results among the first [`TRIAL_TEXTS`] that have every field of a version, with what the
/// version is asked.
fn trial_texts<'a>(
    draft: &'a PrismVersion,
    results: &'a [ReadableResult],
) -> impl Iterator<Item = (&'a ReadableResult, Submission)> {
    results.iter().take(TRIAL_TEXTS).filter_map(|result| {
        let submission = result.submission().for_fields(draft.fields())?;
        Some((result, submission))
    })
}
