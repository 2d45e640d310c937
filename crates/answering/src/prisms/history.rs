//! Who changed what of a prism, and when.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use refract_domain::ids::AccountId;
use refract_domain::prism::VersionNumber;
use refract_domain::slug::PrismSelector;
use refract_persistence::{ChangeKind, Database};

use super::find::find;
use super::refusal::PrismRefusal;
use crate::people::{MakerName, names};

/// What was changed of a prism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOfPrism {
    /// A version was saved, the first of which made the prism.
    Version(VersionNumber),
    /// The prism got a lens of its own.
    LensSet,
    /// The prism returned to the automatic lens.
    LensReset,
    /// The prism got another name.
    Renamed,
    /// The prism was archived.
    Archived,
    /// The prism was restored.
    Restored,
}

/// A change of a prism, with who made it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrismChange {
    /// What was changed.
    pub what: ChangeOfPrism,
    /// Who made the change; `None` for the terminal and for versions that were saved before people
    /// were kept.
    pub made_by: Option<MakerName>,
    /// When the change was made.
    pub made_at: DateTime<Utc>,
}

impl From<ChangeKind> for ChangeOfPrism {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::LensSet => Self::LensSet,
            ChangeKind::LensReset => Self::LensReset,
            ChangeKind::Renamed => Self::Renamed,
            ChangeKind::Archived => Self::Archived,
            ChangeKind::Restored => Self::Restored,
        }
    }
}

/// Every change of a prism, versions and others, newest first.
///
/// # Errors
/// When there is no such prism in the account, or the database fails.
pub async fn history(
    database: &Database,
    account: AccountId,
    prism: &PrismSelector,
) -> Result<Vec<PrismChange>, PrismRefusal> {
    let prism = find(database, account, prism).await?.id;
    let versions = database.list_versions(prism).await?;
    let changes = database.list_prism_changes(prism).await?;
    let versions = versions.into_iter().map(|version| {
        let what = ChangeOfPrism::Version(version.number);
        (what, version.made_by, version.created_at)
    });
    let changes = changes
        .into_iter()
        .map(|change| (change.kind.into(), change.made_by, change.made_at));
    let mut all: Vec<_> = versions.chain(changes).collect();
    // oldest first in each of the two lists, so that changes of one moment keep their order
    all.reverse();
    all.sort_by_key(|(_, _, made_at)| Reverse(*made_at));
    let people: Vec<_> = all.iter().filter_map(|(_, person, _)| *person).collect();
    let names = names(database, account, &people).await?;
    let all = all.into_iter().map(|(what, person, made_at)| PrismChange {
        what,
        made_by: person.and_then(|person| names.get(&person).cloned()),
        made_at,
    });
    Ok(all.collect())
}
