//! The prisms of an account with their numbers of results.

use chrono::Utc;
use refract_domain::ids::AccountId;
use refract_persistence::Prism;

use crate::InternalError;
use crate::prisms::Prisms;
use crate::results::counts::PrismCounts;

/// A prism with its numbers of results.
#[derive(Clone, Debug)]
pub struct ListedPrism {
    /// The prism, archived or not.
    pub prism: Prism,
    /// Counts of its results.
    pub counts: PrismCounts,
}

impl Prisms<'_> {
    /// The prisms of an account with their numbers of results, oldest first, archived ones
    /// included.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list(self, account: AccountId) -> Result<Vec<ListedPrism>, InternalError> {
        let prisms = self.refract.database.list_prisms(account).await?;
        let counts = self.refract.results().counts(account, Utc::now()).await?;
        let listed = prisms.into_iter().map(|prism| ListedPrism {
            counts: counts.of_prism(prism.id).clone(),
            prism,
        });
        Ok(listed.collect())
    }
}
