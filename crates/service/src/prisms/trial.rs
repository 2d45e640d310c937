//! Trials: runs several versions on one text, or an unsaved version on texts that are not stored.

use futures_util::future::join_all;
use futures_util::stream::{self, StreamExt as _};
use refract_boxed_futures::boxed;
use refract_domain::answer::Answers;
use refract_domain::prism::{PrismSelector, PrismVersion, VersionNumber};
use refract_domain::submission::budget::{self, OverBudget};
use refract_domain::submission::{CallContext, IdempotencyKey, Ref, SentFields, Submission};
use refract_identity::people::AccountActor;
use refract_model_gateway::ModelError;

use crate::prisms::Prisms;
use crate::results::create::CreateCall;
use crate::results::read::ReadableResult;
use crate::{CallError, InternalError};

/// Most texts that are in flight to the model at the same time.
const AT_ONCE: usize = 3;

/// The cost of asking an unsaved version about texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DraftTrialCost {
    /// Number of texts that the model is asked about.
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

#[boxed(local)]
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
        versions: &[(VersionNumber, IdempotencyKey)],
    ) -> Vec<Result<ReadableResult, CallError>> {
        let results = self.refract.results();
        let calls = versions.iter().map(|(version, key)| {
            let call = CreateCall {
                prism: prism.clone(),
                fields: fields.clone(),
                context: context.cloned(),
                reference: reference.cloned(),
                version: Some(*version),
                idempotency_key: Some(key.clone()),
            };
            results.create_as(actor.clone(), call)
        });
        join_all(calls).await
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
