//! One result with all details besides its answers.

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::actor::ResultActor;
use refract_domain::result::mark::Mark;
use refract_persistence::Provenance;

use crate::results::Results;
use crate::results::readable_result::ReadableResult;
use crate::{CallError, InternalError};

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
}
