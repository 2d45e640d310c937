//! Finds prisms, versions and lenses of an account.

use std::sync::Arc;

use refract_domain::ids::{AccountId, PrismId};
use refract_domain::prism::slug::PrismSelector;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_persistence::{Prism, PrismHistory};

use super::error::PrismError;
use crate::prisms::Prisms;

impl Prisms<'_> {
    /// A prism by slug or id, archived or not.
    ///
    /// # Errors
    /// When there is no such prism in the account, or the database fails.
    pub async fn find(
        self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<Prism, PrismError> {
        self.refract
            .database
            .find_prism(account, prism)
            .await?
            .ok_or(PrismError::NotFound)
    }

    /// A version of a prism, by its number.
    ///
    /// # Errors
    /// When there is no such version, or the database fails.
    pub async fn find_version(
        self,
        prism: &Prism,
        version: VersionNumber,
    ) -> Result<Arc<PrismVersion>, PrismError> {
        let database = &self.refract.database;
        let found = database.find_version(prism.id, version).await?;
        found.ok_or(PrismError::VersionNotFound)
    }

    /// All prisms of an account, archived or not.
    pub async fn all(self, account: AccountId) -> Result<Vec<Prism>, PrismError> {
        Ok(self.refract.database.list_prisms(account).await?)
    }

    /// A prism with all its versions and its lens.
    ///
    /// # Errors
    /// When there is no such prism, or the database fails.
    pub async fn with_versions(self, prism: PrismId) -> Result<PrismHistory, PrismError> {
        let found = self.refract.database.prism_history(prism).await?;
        found.ok_or(PrismError::NotFound)
    }
}
