//! Asks the model and saves what it said: what a first call and a retry have in common.

use std::sync::Arc;

use chrono::Utc;
use refract_domain::budget;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::reference::{IdempotencyKey, Ref};
use refract_domain::result::{ResultStatus, SavedResult, whole_milliseconds};
use refract_domain::submission::Submission;
use refract_model_gateway::{ModelFailure, ModelReport};
use refract_persistence::{NewResult, PersistenceError, PrismRow, Provenance, Saving};
use uuid::Uuid;

use crate::prisms::PrismLens;
use crate::refusal::InternalError;
use crate::{Answering, ReadableResult, Refusal};

/// Who calls: an account, through one of its keys or from the operator's terminal.
#[derive(Clone, Copy)]
pub(crate) struct Caller {
    pub(crate) account: AccountId,
    pub(crate) api_key: Option<ApiKeyId>,
}

/// A call that passed every check but its size.
pub(crate) struct Question {
    pub(crate) caller: Caller,
    pub(crate) prism: PrismId,
    pub(crate) number: VersionNumber,
    pub(crate) version: Arc<PrismVersion>,
    pub(crate) submission: Submission,
    pub(crate) reference: Option<Ref>,
    pub(crate) idempotency_key: Option<IdempotencyKey>,
    pub(crate) retry_of: Option<ResultId>,
}

/// What became of a question.
pub(crate) struct Asked {
    /// The result that was saved, by this call or by the one that was first.
    pub(crate) result: SavedResult,
    /// Whether this call was.
    pub(crate) is_first: bool,
    /// What this call cost.
    pub(crate) report: ModelReport,
}

impl Answering {
    /// Brings what the result's formats need, checks the size, asks the model, saves the result.
    ///
    /// Nothing is read once the model was asked, unless another call saved first: a database that
    /// can save makes the call a success.
    pub(crate) async fn ask_and_save(
        &self,
        question: Question,
        prism: PrismRow,
    ) -> Result<ReadableResult, Refusal> {
        let lens = Arc::new(PrismLens::load(&self.database, prism).await?);
        let version = Arc::clone(&question.version);
        let asked = self.ask(question).await?;
        if asked.is_first {
            return Ok(ReadableResult::new(asked.result, version, &lens));
        }
        Ok(ReadableResult::through(&self.database, asked.result, &lens).await?)
    }

    /// Checks the size, asks the model, saves the result.
    ///
    /// When another call saved first, under the same key or as the retry of the same result, its
    /// result is this call's too.
    pub(crate) async fn ask(&self, question: Question) -> Result<Asked, Refusal> {
        let Question {
            caller,
            prism,
            number,
            version,
            submission,
            ..
        } = question;
        budget::check(&version, &submission)?;
        let called = self.model.answer(&version, &submission).await;
        let outcome = called
            .outcome
            .as_ref()
            .map_or_else(ModelFailure::kind, |_| "answered");
        self.metrics.model_called(outcome, called.took);
        let status = match called.outcome {
            Ok(answers) => ResultStatus::Ok(answers),
            Err(failure) => ResultStatus::Failed {
                error: failure.to_string(),
            },
        };
        let result = SavedResult {
            id: ResultId(Uuid::now_v7()),
            prism,
            version: number,
            reference: question.reference,
            submission,
            status,
            took_ms: u64::try_from(called.took.as_millis()).unwrap_or(u64::MAX),
            created_at: whole_milliseconds(Utc::now()),
            idempotency_key: question.idempotency_key,
        };
        let Caller { account, api_key } = caller;
        let new = NewResult {
            account,
            api_key,
            retry_of: question.retry_of,
            result,
            provenance: provenance(called.report.clone()),
        };
        let (result, is_first) = match self.save(&new).await? {
            Saving::Saved => {
                self.metrics.result_saved(new.result.status.name());
                (new.result, true)
            }
            Saving::Lost(winner) => {
                winner.repeat(prism)?;
                (winner, false)
            }
        };
        Ok(Asked {
            result,
            is_first,
            report: called.report,
        })
    }

    /// Saves a result. An answer that was paid for is not thrown away because the database is away
    /// for a moment: saving the same result again is safe.
    async fn save(&self, new: &NewResult) -> Result<Saving, PersistenceError> {
        let save = || self.database.save_result(new);
        let failed = |error: &PersistenceError| {
            self.metrics.save_failed();
            tracing::warn!(%error, "a result could not be saved yet");
        };
        self.patience.insist(save, failed).await
    }

    /// Sends a failed result's stored values again, against its own version (spec 4.3).
    pub(crate) async fn ask_again(
        &self,
        caller: Caller,
        failed: SavedResult,
        prism: PrismRow,
    ) -> Result<ReadableResult, Refusal> {
        let question = self.question_again(caller, failed).await?;
        self.ask_and_save(question, prism).await
    }

    /// What a failed result asked, as its retry asks it.
    pub(crate) async fn question_again(
        &self,
        caller: Caller,
        failed: SavedResult,
    ) -> Result<Question, Refusal> {
        let found = self
            .database
            .find_version(failed.prism, failed.version)
            .await?;
        let version = found.ok_or(InternalError::VersionMissing)?;
        Ok(Question {
            caller,
            prism: failed.prism,
            number: failed.version,
            version,
            submission: failed.submission,
            reference: failed.reference,
            idempotency_key: failed.idempotency_key,
            retry_of: Some(failed.id),
        })
    }
}

/// What the gateway reports of a call, as it is kept with the result.
fn provenance(report: ModelReport) -> Provenance {
    Provenance {
        protocol: Some(report.protocol.to_owned()),
        model: report.model,
        prompt_version: report.prompt_version,
        input_tokens: report.input_tokens,
        output_tokens: report.output_tokens,
        requests: Some(report.requests),
        attempts: Some(report.attempts),
    }
}
