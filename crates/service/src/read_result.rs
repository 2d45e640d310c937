//! Read a result (spec 4.2), and find the result that a read or retry names.

use chrono::Utc;
use refract_domain::ids::ResultId;
use refract_persistence::FoundResult;

use crate::caller::Caller;
use crate::presented_key::PresentedKey;
use crate::readable_result::ReadableResult;
use crate::refract::Refract;
use crate::refusal::Refusal;

/// An authenticated read or retry with the result that it names.
pub(crate) struct ResultCall {
    pub(crate) caller: Caller,
    pub(crate) found: FoundResult,
}

impl Refract {
    /// Reads any result of the caller's account, made by any key, person or file run.
    ///
    /// # Errors
    /// The first check that fails: key, then result.
    pub async fn read_result(
        &self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ReadableResult, Refusal> {
        let FoundResult { result, prism } = self.find_result_call(presented, id).await?.found;
        Ok(ReadableResult::load(&self.database, result, prism).await?)
    }

    /// Checks the key, then the result, of a read or retry.
    pub(crate) async fn find_result_call(
        &self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ResultCall, Refusal> {
        let hash = presented.key().ok_or(Refusal::InvalidApiKey)?.hash();
        let found = self.database.find_result_call(&hash, id, Utc::now());
        let (caller, row) = self.authenticate(presented, found.await?, |row| row.key)?;
        let found = row.result.ok_or(Refusal::ResultNotFound)?;
        Ok(ResultCall { caller, found })
    }
}
