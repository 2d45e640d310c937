//! Versions that repeat the one before.

use refract_domain::prism::VersionNumber;
use refract_persistence::{Database, PrismRow};

use super::find::find_version;
use super::refusal::PrismRefusal;

/// Whether a version that was just saved defines what the one before defines: `read` is the prism as
/// it was before that.
///
/// # Errors
/// When there is no such version, or the database fails.
pub async fn repeats_version_before(
    database: &Database,
    read: &PrismRow,
    saved: VersionNumber,
) -> Result<bool, PrismRefusal> {
    let before = find_version(database, read, read.latest_version).await?;
    if before != find_version(database, read, saved).await? {
        return Ok(false);
    }
    let now = database.find_prism_by_id(read.id).await?;
    Ok(now.is_some_and(|now| now.name == read.name))
}
