//! The prisms of an account with the numbers of their results.

use chrono::Utc;
use refract_domain::ids::AccountId;
use refract_persistence::{Database, PrismRow};

use crate::refusal::InternalError;
use crate::result_counts::{PrismCounts, counts};

/// A prism with the numbers of its results.
pub struct CountedPrism {
    /// The prism, archived or not.
    pub prism: PrismRow,
    /// Numbers of its results.
    pub counts: PrismCounts,
}

/// The prisms of an account, oldest first, archived ones too.
///
/// # Errors
/// When the database fails.
pub async fn list(
    database: &Database,
    account: AccountId,
) -> Result<Vec<CountedPrism>, InternalError> {
    let counts = counts(database, account, Utc::now()).await?;
    let prisms = database.list_prisms(account).await?.into_iter();
    let counted = prisms.map(|prism| CountedPrism {
        counts: counts.of_prism(prism.id).clone(),
        prism,
    });
    Ok(counted.collect())
}
