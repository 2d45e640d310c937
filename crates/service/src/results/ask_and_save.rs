//! Asks the model about a call that passed every check, and saves its answers: shared by first
//! calls and retries.

use std::sync::Arc;

use refract_domain::ids::{PrismId, ResultId};
use refract_domain::prism::PrismVersion;
use refract_domain::result::{ResultStatus, SavedResult, whole_milliseconds};
use refract_domain::submission::{IdempotencyKey, Ref, Submission};
use refract_identity::new_id;
use refract_identity::people::AccountActor;
use refract_model_gateway::{ModelError, ModelReply, ModelReport};
use refract_persistence::{NewResult, PersistenceError, Prism, Provenance, SaveOutcome};

use crate::lenses::prism_lens::PrismLens;
use crate::prisms::NumberedVersion;
use crate::results::Results;
use crate::results::metrics::SavedUse;
use crate::results::read::ReadableResult;
use crate::{CallError, InternalError};

/// The outcome of a call that reached the model.
pub struct AnsweredCall {
    /// The saved result: this call's, or the one of the call that saved first.
    pub result: ReadableResult,
    /// What the request to the model cost this call.
    pub report: ModelReport,
    /// The failure of this call, if a row of a file that fails so is asked about again.
    pub repeatable: Option<RepeatableFailure>,
}

/// A failure that asking again may mend.
pub struct RepeatableFailure {
    /// The failed result, to be retried.
    pub result: Box<SavedResult>,
    /// Why it failed.
    pub failure: ModelError,
}

impl Results<'_> {
    /// Loads what the formats need, asks the model and saves the result.
    ///
    /// Nothing is read after the model has answered, unless another call saved first: the call
    /// succeeds if the database can save.
    pub(crate) async fn ask_and_save(
        self,
        call: CheckedCall,
        prism: Prism,
    ) -> Result<ReadableResult, CallError> {
        let lens = Arc::new(PrismLens::load(&self.refract.database, prism).await?);
        Ok(self.answer(call, &lens).await?.result)
    }

    /// Asks the model and saves the result.
    ///
    /// When another call saved first, with this idempotency key or as a retry of this failed
    /// result, both calls get the result of that call.
    pub(crate) async fn answer(
        self,
        call: CheckedCall,
        lens: &Arc<PrismLens>,
    ) -> Result<AnsweredCall, CallError> {
        let asked = self.ask(&call.asked.version, &call.submission).await?;
        // boxed, so that a call that waits for the model needs no memory for saving
        Box::pin(self.save_answer(call, asked, lens)).await
    }

    /// Saves the outcome of asking the model.
    async fn save_answer(
        self,
        call: CheckedCall,
        asked: ModelReply,
        lens: &Arc<PrismLens>,
    ) -> Result<AnsweredCall, CallError> {
        let failure = asked.outcome.as_ref().err();
        let failure = failure
            .filter(|failure| failure.deserves_repetition(0))
            .cloned();
        let status = match asked.outcome {
            Ok(answers) => ResultStatus::Ok(answers),
            Err(failure) => ResultStatus::Failed {
                error: failure.to_string(),
            },
        };
        let (id, at) = new_id();
        let result = SavedResult {
            id: ResultId::new(id),
            prism: call.prism,
            version: call.asked.number,
            reference: call.reference,
            submission: call.submission,
            status,
            took_ms: u64::try_from(asked.took.as_millis()).unwrap_or(u64::MAX),
            created_at: whole_milliseconds(at),
            idempotency_key: call.idempotency_key,
        };
        let new = NewResult {
            account: call.actor.account(),
            api_key: call.actor.api_key(),
            made_by: call.actor.person_id(),
            file_run: call.actor.file_run(),
            retry_of: call.retry_of,
            result,
            provenance: provenance(asked.report.clone()),
        };
        let mut repeatable = None;
        let result = match self.save(&new).await? {
            SaveOutcome::Saved => {
                self.refract.metrics.result_saved(new.result.status.name());
                repeatable = failure.map(|failure| RepeatableFailure {
                    result: Box::new(new.result.clone()),
                    failure,
                });
                let result = ReadableResult::new(new.result, call.asked.version, lens);
                self.refract.metrics.prisms.saved(&SavedUse {
                    prism: call.prism,
                    is_ok: result.is_ok(),
                    is_unsure: result.is_unsure(),
                    report: &asked.report,
                });
                result
            }
            SaveOutcome::Lost(winner) => {
                winner.repeat(call.prism)?;
                ReadableResult::through_lens(&self.refract.database, winner, lens).await?
            }
        };
        Ok(AnsweredCall {
            result,
            report: asked.report,
            repeatable,
        })
    }

    /// Asks the model and saves nothing.
    pub(crate) async fn ask(
        self,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Result<ModelReply, InternalError> {
        let asked = self.refract.model()?.answer(version, submission).await;
        let outcome = asked
            .outcome
            .as_ref()
            .map_or_else(ModelError::kind, |_| "answered");
        let metrics = &self.refract.metrics;
        metrics.model_asked(outcome, asked.took, &asked.report);
        Ok(asked)
    }

    /// Saves a result, with retries while the database is briefly away: the answers were paid for,
    /// and saving a result twice changes nothing.
    async fn save(self, new: &NewResult) -> Result<SaveOutcome, PersistenceError> {
        let save = || self.refract.database.save_result(new);
        let failed = |error: &PersistenceError| {
            self.refract.metrics.save_failed();
            tracing::warn!(%error, "a result could not be saved yet");
        };
        self.refract.retry_policy.retry(save, failed).await
    }
}

/// The gateway's report as it is saved with a result.
fn provenance(report: ModelReport) -> Provenance {
    let codes = report.parsed.codes;
    Provenance {
        protocol: Some(report.protocol.to_owned()),
        model: report.model,
        prompt_version: report.prompt_version,
        input_tokens: report.input_tokens,
        cached_tokens: report.cached_tokens,
        output_tokens: report.output_tokens,
        cost: report.cost,
        host_request_id: report.host_request_id,
        requests: Some(report.requests),
        attempts: Some(report.attempts),
        on_codes: codes.map(|codes| codes.mass),
        unread: codes.map(|codes| codes.unread),
        truncated_to: report.truncated_to,
    }
}

/// A create or retry that passed every check.
pub(crate) struct CheckedCall {
    pub(crate) actor: AccountActor,
    pub(crate) prism: PrismId,
    pub(crate) asked: NumberedVersion,
    pub(crate) submission: Submission,
    pub(crate) reference: Option<Ref>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    /// The failed result that is retried.
    pub(crate) retry_of: Option<ResultId>,
}

impl CheckedCall {
    /// The retry of a failed result, which sends its stored values again (spec 4.3).
    pub(crate) fn retry(actor: AccountActor, failed: SavedResult, asked: NumberedVersion) -> Self {
        Self {
            actor,
            prism: failed.prism,
            asked,
            submission: failed.submission,
            reference: failed.reference,
            idempotency_key: failed.idempotency_key,
            retry_of: Some(failed.id),
        }
    }
}
