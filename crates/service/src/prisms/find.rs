//! Finds prisms, versions and lenses of an account.

use std::sync::Arc;

use refract_domain::ids::AccountId;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::slug::PrismSelector;
use refract_persistence::{Database, PrismRow};

use super::refusal::PrismRefusal;
use crate::prism_lens::PrismLens;

/// A prism by slug or id, archived or not.
///
/// # Errors
/// When there is no such prism in the account, or the database fails.
pub async fn find(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
) -> Result<PrismRow, PrismRefusal> {
    database
        .find_prism(account, prism)
        .await?
        .ok_or(PrismRefusal::NotFound)
}

/// A version of a prism, by its number.
///
/// # Errors
/// When there is no such version, or the database fails.
pub async fn find_version(
    database: &Database,
    prism: &PrismRow,
    version: VersionNumber,
) -> Result<Arc<PrismVersion>, PrismRefusal> {
    let found = database.find_version(prism.id, version).await?;
    found.ok_or(PrismRefusal::VersionNotFound)
}

/// The lens of a prism.
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn find_lens(
    database: &Database,
    account: AccountId,
    selector: &PrismSelector,
) -> Result<PrismLens, PrismRefusal> {
    let prism = find(database, account, selector).await?;
    Ok(PrismLens::load(database, prism).await?)
}
