//! What owners and operators decide about the one-time codes of others.

use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::PersistenceError;

use crate::people::People;
use crate::people::account_actor::AccountActor;
use crate::people::error::PersonError;

impl People<'_> {
    /// Removes the codes of a person of the caller's account, who then signs in by password alone.
    ///
    /// # Errors
    /// When there is no such person, or the database fails.
    pub async fn remove_codes(
        self,
        actor: &AccountActor,
        person: PersonId,
    ) -> Result<(), PersonError> {
        let database = &self.refract.database;
        let removing = database.remove_codes(person, actor.event_stamp());
        if removing.await? {
            Ok(())
        } else {
            Err(PersonError::NotFound)
        }
    }

    /// Whether the people of an account who sign in by password need one-time codes.
    pub async fn are_codes_required(self, account: AccountId) -> Result<bool, PersistenceError> {
        self.refract.database.are_codes_required(account).await
    }

    /// Sets whether the people of the caller's account who sign in by password need one-time codes,
    /// from their next request on.
    pub async fn set_codes_required(
        self,
        actor: &AccountActor,
        are_required: bool,
    ) -> Result<(), PersistenceError> {
        let database = &self.refract.database;
        let setting = database.set_codes_required(are_required, actor.event_stamp());
        setting.await
    }
}
