//! Retry a failed result, once (spec 4.3).

use refract_domain::ids::ResultId;
use refract_domain::result::SavedResult;
use refract_domain::submission::budget;
use refract_persistence::{FoundResult, Prism};

use crate::CallError;
use crate::keys::api_key::PresentedKey;
use crate::people::accounts::AccountActor;
use crate::prisms::versions::{NumberedVersion, find_saved_version};
use crate::results::Results;
use crate::results::checked_call::CheckedCall;
use crate::results::read::ResultCall;
use crate::results::readable_result::ReadableResult;

impl Results<'_> {
    /// Asks the model about a failed result again and saves the answers as a new result.
    ///
    /// # Errors
    /// The first check that fails: key, result, failed and not retried yet, prism not archived,
    /// size.
    pub async fn retry(
        self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ReadableResult, CallError> {
        let ResultCall { actor, found } = self.find_result_call(presented, id).await?;
        self.retry_found(actor, found).await
    }

    /// Retries a result for a caller without an API key: the operator's terminal or a person.
    ///
    /// # Errors
    /// As [`Results::retry`].
    pub async fn retry_as(
        self,
        actor: AccountActor,
        id: ResultId,
    ) -> Result<ReadableResult, CallError> {
        let database = &self.refract.database;
        let found = database.find_result(actor.account(), id).await?;
        let found = found.ok_or(CallError::ResultNotFound)?;
        self.retry_found(actor, found).await
    }

    async fn retry_found(
        self,
        actor: AccountActor,
        found: FoundResult,
    ) -> Result<ReadableResult, CallError> {
        let is_archived = found.prism.archived_at.is_some();
        let retried_as = self.refract.database.find_retry(found.result.id).await?;
        found.result.may_be_retried(retried_as, is_archived)?;
        self.retry_failed_result(actor, found.result, found.prism)
            .await
    }

    /// Retries a failed result for which only the size is still to be checked.
    pub(crate) async fn retry_failed_result(
        self,
        actor: AccountActor,
        failed: SavedResult,
        prism: Prism,
    ) -> Result<ReadableResult, CallError> {
        let checked = self.check_retry(actor, failed).await?;
        self.ask_and_save(checked, prism).await
    }

    /// Checks the size of a retry, which sends the stored values to the version that failed on
    /// them.
    pub(crate) async fn check_retry(
        self,
        actor: AccountActor,
        failed: SavedResult,
    ) -> Result<CheckedCall, CallError> {
        let number = failed.version;
        let version = find_saved_version(&self.refract.database, failed.prism, number).await?;
        budget::check(&version, &failed.submission)?;
        let asked = NumberedVersion { number, version };
        Ok(CheckedCall::retry(actor, failed, asked))
    }
}
