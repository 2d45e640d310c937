//! Retry a failed result, once (spec 4.3).

use refract_domain::api_key::ApiKey;
use refract_domain::ids::ResultId;

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
        let (caller, (failed, prism, retried_as)) = self.find_result(api_key, id).await?;
        failed.may_be_retried(retried_as, prism.archived_at.is_some())?;
        self.ask_again(caller, failed, prism).await
    }
}
