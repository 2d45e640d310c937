//! Retry a failed result, once (spec 4.3).

use refract_domain::api_key::ApiKey;
use refract_domain::ids::ResultId;

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
        let hash = api_key.ok_or(Refusal::InvalidApiKey)?.hash();
        let found = self.database.find_result_call(&hash, id).await?;
        let found = found
            .filter(|row| !row.is_revoked)
            .ok_or(Refusal::InvalidApiKey)?;
        self.key_uses.note(found.api_key);
        let caller = Caller {
            account: found.account,
            api_key: Some(found.api_key),
        };
        let (failed, prism, retried_as) = found.result.ok_or(Refusal::ResultNotFound)?;
        failed.may_be_retried(retried_as, prism.archived_at.is_some())?;
        self.ask_again(caller, failed, prism).await
    }
}
