//! Versions that repeat the version before.

use refract_domain::prism::VersionNumber;
use refract_persistence::Prism;

use super::error::PrismError;
use crate::prisms::Prisms;

impl Prisms<'_> {
    /// Whether a version that was just saved has the same definition as the version before. `read`
    /// is the prism as it was before saving.
    ///
    /// # Errors
    /// When there is no such version, or the database fails.
    pub async fn repeats_version_before(
        self,
        read: &Prism,
        saved: VersionNumber,
    ) -> Result<bool, PrismError> {
        let before = self.find_version(read, read.latest_version).await?;
        if before != self.find_version(read, saved).await? {
            return Ok(false);
        }
        let now = self.refract.database.find_prism_by_id(read.id).await?;
        Ok(now.is_some_and(|now| now.name == read.name))
    }
}
