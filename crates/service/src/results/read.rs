//! Read a result (spec 4.2), find the result that a read or retry names, and show it with all
//! details and who made it.

use chrono::Utc;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::actor::ResultActor;
use refract_domain::result::mark::Mark;
use refract_persistence::{FoundResult, PersistenceError, Provenance};

use crate::keys::api_key::PresentedKey;
use crate::people::accounts::AccountActor;
use crate::results::Results;
use crate::results::readable_result::ReadableResult;
use crate::{CallError, InternalError};

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

/// A result with its provenance, its actor, its retries and its marks.
pub struct ResultDetails {
    /// The result.
    pub result: ReadableResult,
    /// Where the answers came from.
    pub provenance: Provenance,
    /// Who made the result.
    pub actor: ResultActor,
    /// The failed result that this one retried.
    pub retry_of: Option<ResultId>,
    /// The result that retried this one.
    pub retried_as: Option<ResultId>,
    /// The correct outcomes as people state them, in the order of the question keys.
    pub marks: Vec<Mark>,
}

impl Results<'_> {
    /// Where the answers of a result came from; empty for a result that the account lacks.
    pub async fn provenance(
        self,
        account: AccountId,
        id: ResultId,
    ) -> Result<Provenance, InternalError> {
        let found = self.refract.database.find_provenance(account, id).await?;
        Ok(found.unwrap_or_default())
    }

    /// Finds a result of an account with its details.
    ///
    /// # Errors
    /// When the account has no such result, or the database fails.
    pub async fn details(
        self,
        account: AccountId,
        id: ResultId,
    ) -> Result<ResultDetails, CallError> {
        let database = &self.refract.database;
        let result = self.find(account, id).await?;
        let actor = self.actor(account, id).await?;
        Ok(ResultDetails {
            result,
            provenance: self.provenance(account, id).await?,
            actor: actor.unwrap_or(ResultActor::Operator),
            retry_of: database.find_retry_of(account, id).await?,
            retried_as: database.find_retry(id).await?,
            marks: database.list_marks(id).await?,
        })
    }

    /// The actor of a result of the account; `None` when the account has no such result. A result
    /// without a key from before people were recorded is the terminal's.
    pub async fn actor(
        self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<ResultActor>, PersistenceError> {
        let found = self
            .refract
            .database
            .find_result_actor(account, result)
            .await?;
        Ok(found.map(ResultActor::from))
    }
}
