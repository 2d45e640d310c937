//! Read a result: nothing is sent to the model (spec 4.2).

use refract_domain::api_key::ApiKey;
use refract_domain::ids::ResultId;
use refract_persistence::FoundResult;

use crate::ask::Caller;
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
        let (_, found) = self.find_result(api_key, id).await?;
        Ok(ReadableResult::load(&self.database, found.result, found.prism).await?)
    }

    /// Who calls, and the result that the call is about: what a read and a retry begin with.
    pub(crate) async fn find_result(
        &self,
        api_key: Option<&ApiKey>,
        id: ResultId,
    ) -> Result<(Caller, FoundResult), Refusal> {
        let hash = api_key.ok_or(Refusal::InvalidApiKey)?.hash();
        let found = self.database.find_result_call(&hash, id).await?;
        let found = found
            .filter(|row| !row.key.is_revoked)
            .ok_or(Refusal::InvalidApiKey)?;
        self.key_uses.note(found.key.id);
        let caller = Caller {
            account: found.key.account,
            api_key: Some(found.key.id),
        };
        Ok((caller, found.result.ok_or(Refusal::ResultNotFound)?))
    }
}
