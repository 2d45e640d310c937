//! Renames, archives and restores prisms.

use chrono::{DateTime, Utc};
use refract_domain::ids::PrismChangeId;
use refract_domain::prism::PrismName;
use refract_domain::slug::PrismSelector;
use refract_persistence::{Database, NewPrismChange};
use uuid::Uuid;

use super::find::find;
use super::refusal::PrismRefusal;
use crate::caller::Caller;

/// Renames a prism. Its slug stays.
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn rename(
    database: &Database,
    caller: Caller,
    prism: &PrismSelector,
    name: &PrismName,
) -> Result<(), PrismRefusal> {
    let prism = find(database, caller.account(), prism).await?;
    let change = new_change(caller);
    Ok(database.rename_prism(prism.id, name, change).await?)
}

/// Archives a prism or makes it active again. Its results stay readable either way (spec 3.2).
///
/// # Errors
/// When there is no such prism, or the database fails.
pub async fn set_archived(
    database: &Database,
    caller: Caller,
    prism: &PrismSelector,
    archived: bool,
) -> Result<(), PrismRefusal> {
    let prism = find(database, caller.account(), prism).await?;
    let change = new_change(caller);
    Ok(database
        .set_prism_archived(prism.id, archived, change)
        .await?)
}

/// A change that the caller makes now.
pub(super) fn new_change(caller: Caller) -> NewPrismChange {
    new_change_at(caller, Utc::now())
}

/// A change that the caller makes at this moment.
pub(super) fn new_change_at(caller: Caller, now: DateTime<Utc>) -> NewPrismChange {
    NewPrismChange {
        id: PrismChangeId(Uuid::now_v7()),
        made_by: caller.person_id(),
        made_at: now,
    }
}
