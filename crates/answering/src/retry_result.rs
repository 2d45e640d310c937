//! Retry a failed result, once (spec 4.3).

use refract_domain::api_key::ApiKey;
use refract_domain::ids::{AccountId, ResultId};
use refract_persistence::FoundResult;

use crate::ask::Caller;
use crate::{Answering, ReadableResult, Refusal};

impl Answering {
    /// Asks a failed result's question again and saves the answer as a new result.
    ///
    /// # Errors
    /// The first check that fails: key, result, whether it may be retried, size.
    pub async fn retry_result(
        &self,
        api_key: Option<&ApiKey>,
        id: ResultId,
    ) -> Result<ReadableResult, Refusal> {
        let (caller, found) = self.find_result(api_key, id).await?;
        self.retry(caller, found).await
    }

    /// The same from the operator's terminal, for a whole account.
    ///
    /// # Errors
    /// As [`Answering::retry_result`].
    pub async fn retry_result_in(
        &self,
        account: AccountId,
        id: ResultId,
    ) -> Result<ReadableResult, Refusal> {
        let found = self.database.find_result(account, id).await?;
        let caller = Caller {
            account,
            api_key: None,
        };
        self.retry(caller, found.ok_or(Refusal::ResultNotFound)?)
            .await
    }

    async fn retry(&self, caller: Caller, found: FoundResult) -> Result<ReadableResult, Refusal> {
        let is_archived = found.prism.archived_at.is_some();
        found.result.may_be_retried(found.retried_as, is_archived)?;
        self.ask_again(caller, found.result, found.prism).await
    }
}
