//! Read a result (spec 4.2), and find the result that a read or retry names.

use chrono::Utc;
use refract_domain::api_key::ApiKey;
use refract_domain::ids::ResultId;
use refract_persistence::FoundResult;

use crate::answering::Answering;
use crate::caller::Caller;
use crate::readable_result::ReadableResult;
use crate::refusal::Refusal;

/// An authenticated read or retry with the result that it names.
pub(crate) struct ResultCall {
    pub(crate) caller: Caller,
    pub(crate) found: FoundResult,
}

impl Answering {
    /// Reads any result of the caller's account, made by any key, person or file run.
    ///
    /// # Errors
    /// The first check that fails: key, then result.
    pub async fn read_result(
        &self,
        api_key: Option<&ApiKey>,
        id: ResultId,
    ) -> Result<ReadableResult, Refusal> {
        let FoundResult { result, prism } = self.find_result_call(api_key, id).await?.found;
        Ok(ReadableResult::load(&self.database, result, prism).await?)
    }

    /// Checks the key, then the result, of a read or retry.
    pub(crate) async fn find_result_call(
        &self,
        api_key: Option<&ApiKey>,
        id: ResultId,
    ) -> Result<ResultCall, Refusal> {
        let hash = api_key.ok_or(Refusal::InvalidApiKey)?.hash();
        let found = self.database.find_result_call(&hash, id, Utc::now());
        let found = found.await?;
        let (caller, row) = self.authenticate(found, |row| row.key)?;
        let found = row.result.ok_or(Refusal::ResultNotFound)?;
        Ok(ResultCall { caller, found })
    }
}
