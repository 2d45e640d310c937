//! Read a result (spec 4.2), and find the result that a read or retry names.

use chrono::Utc;
use refract_domain::ids::ResultId;
use refract_persistence::FoundResult;

use crate::CallError;
use crate::keys::api_key::PresentedKey;
use crate::people::accounts::AccountActor;
use crate::results::Results;
use crate::results::readable_result::ReadableResult;

/// An authenticated read or retry with the result that it names.
pub(crate) struct ResultCall {
    pub(crate) actor: AccountActor,
    pub(crate) found: FoundResult,
}

impl Results<'_> {
    /// Reads any result of the caller's account, made by any key, person or file run.
    ///
    /// # Errors
    /// The first check that fails: key, then result.
    pub async fn read(
        self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ReadableResult, CallError> {
        let FoundResult { result, prism } = self.find_result_call(presented, id).await?.found;
        Ok(ReadableResult::load(&self.refract.database, result, prism).await?)
    }

    /// Checks the key, then the result, of a read or retry.
    pub(crate) async fn find_result_call(
        self,
        presented: &PresentedKey,
        id: ResultId,
    ) -> Result<ResultCall, CallError> {
        let keys = self.refract.keys();
        let hash = keys.hash_of(presented)?;
        let database = &self.refract.database;
        let found = database.find_result_call(&hash, id, Utc::now());
        let (actor, row) = keys.authenticate(presented, found.await?, |row| &row.key)?;
        let found = row.result.ok_or(CallError::ResultNotFound)?;
        Ok(ResultCall { actor, found })
    }
}
