//! Renames, archives and restores prisms.

use refract_domain::prism::DisplayName;
use refract_domain::prism::slug::PrismSelector;

use super::error::PrismError;
use crate::people::accounts::AccountActor;
use crate::prisms::Prisms;

impl Prisms<'_> {
    /// Renames a prism. Its slug stays.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn rename(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        name: &DisplayName,
    ) -> Result<(), PrismError> {
        let prism = self.find(actor.account(), prism).await?;
        let stamp = actor.event_stamp();
        let database = &self.refract.database;
        Ok(database.rename_prism(prism.id, name, stamp).await?)
    }

    /// Archives a prism or makes it active again. Its results stay readable either way (spec 3.2).
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn set_archived(
        self,
        actor: &AccountActor,
        prism: &PrismSelector,
        archived: bool,
    ) -> Result<(), PrismError> {
        let prism = self.find(actor.account(), prism).await?;
        let stamp = actor.event_stamp();
        let database = &self.refract.database;
        Ok(database
            .set_prism_archived(prism.id, archived, stamp)
            .await?)
    }
}
