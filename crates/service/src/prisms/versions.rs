//! Which prism version answers a call, and which one answered a saved result.

use std::sync::Arc;

use refract_domain::ids::PrismId;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_persistence::{Database, Prism};

use crate::{CallError, InternalError};

/// A prism version with its number.
#[derive(Clone)]
pub(crate) struct NumberedVersion {
    pub(crate) number: VersionNumber,
    pub(crate) version: Arc<PrismVersion>,
}

/// Refuses a prism that does not exist or is archived (spec 3.2).
pub(crate) fn check_active(found: Option<Prism>) -> Result<Prism, CallError> {
    found
        .filter(|prism| prism.archived_at.is_none())
        .ok_or(CallError::PrismNotFound)
}

/// The version that a call pins, or the prism's latest.
pub(crate) async fn find_version_to_ask(
    database: &Database,
    prism: &Prism,
    pinned: Option<VersionNumber>,
) -> Result<NumberedVersion, CallError> {
    let number = pinned.unwrap_or(prism.latest_version);
    let found = database.find_version(prism.id, number).await?;
    let version = found.ok_or(CallError::VersionNotFound)?;
    Ok(NumberedVersion { number, version })
}

/// The version that answered a saved result, which always exists.
pub(crate) async fn find_saved_version(
    database: &Database,
    prism: PrismId,
    number: VersionNumber,
) -> Result<Arc<PrismVersion>, InternalError> {
    let found = database.find_version(prism, number).await?;
    found.ok_or(InternalError::VersionMissing)
}
