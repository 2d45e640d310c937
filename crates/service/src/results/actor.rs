//! Who made a result.

use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::actor::ResultActor;
use refract_persistence::PersistenceError;

use crate::results::Results;

impl Results<'_> {
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
