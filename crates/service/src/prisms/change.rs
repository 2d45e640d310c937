//! Renames, archives and restores prisms.

use refract_domain::prism::PrismName;
use refract_domain::slug::PrismSelector;
use refract_persistence::Database;

use super::find::find;
use super::refusal::PrismRefusal;
use crate::caller::Caller;

/// Renames a prism. Its slug stays.
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn rename(
    database: &Database,
    caller: &Caller,
    prism: &PrismSelector,
    name: &PrismName,
) -> Result<(), PrismRefusal> {
    let prism = find(database, caller.account(), prism).await?;
    let stamp = caller.event_stamp();
    Ok(database.rename_prism(prism.id, name, stamp).await?)
}

/// Archives a prism or makes it active again. Its results stay readable either way (spec 3.2).
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn set_archived(
    database: &Database,
    caller: &Caller,
    prism: &PrismSelector,
    archived: bool,
) -> Result<(), PrismRefusal> {
    let prism = find(database, caller.account(), prism).await?;
    let stamp = caller.event_stamp();
    Ok(database
        .set_prism_archived(prism.id, archived, stamp)
        .await?)
}
