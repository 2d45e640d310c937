//! Read a result: nothing is sent to the model (spec 4.2).

use refract_domain::api_key::ApiKey;
use refract_domain::ids::ResultId;

use crate::{Answering, ReadableResult, Refusal};

impl Answering {
    /// Any result of the caller's account, whoever made it.
    ///
    /// # Errors
    /// The first check that fails: key, then result.
    pub async fn read_result(
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
        let (result, prism, _) = found.result.ok_or(Refusal::ResultNotFound)?;
        Ok(ReadableResult::load(&self.database, result, prism).await?)
    }
}
