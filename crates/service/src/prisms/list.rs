//! The prisms of an account with the numbers of their results.

use chrono::Utc;
use refract_domain::ids::AccountId;
use refract_persistence::{Database, PrismRow};

use crate::refusal::InternalError;
use crate::result_counts::{PrismCounts, counts};

/// A prism with the numbers of its results.
#[derive(Clone, Debug)]
pub struct ListedPrism {
    /// The prism, archived or not.
    pub prism: PrismRow,
    /// Its results.
    pub counts: PrismCounts,
}

/// The prisms of an account with the numbers of their results, oldest first, archived ones included.
///
/// # Errors
/// When the database fails.
pub async fn list(
    database: &Database,
    account: AccountId,
) -> Result<Vec<ListedPrism>, InternalError> {
    let prisms = database.list_prisms(account).await?;
    let counts = counts(database, account, Utc::now()).await?;
    let listed = prisms.into_iter().map(|prism| ListedPrism {
        counts: counts.of_prism(prism.id).clone(),
        prism,
    });
    Ok(listed.collect())
}
