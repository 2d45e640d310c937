//! Who changed what of a prism, and when; and its versions as pages show them.

use refract_boxed_futures::boxed;
use std::cmp::Reverse;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use refract_authoring::version_difference::{VersionDifference, differences};
use refract_domain::event::{Event, EventAction, EventDetail};
use refract_domain::ids::{AccountId, PersonId};
use refract_domain::prism::{PrismSelector, PrismVersion, VersionNumber};
use refract_identity::people::ActorName;
use refract_persistence::ChangeKind;

use super::PrismError;
use crate::lenses::PrismLens;
use crate::prisms::Prisms;
use crate::results::counts::PrismCounts;

/// The newest changes of a prism that are described by events.
const MOST_EVENTS: u32 = 200;
/// Number of the newest versions of a prism that are compared with the versions before them.
pub const COMPARED_VERSIONS: usize = 20;

/// The kind of a change of a prism.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOfPrism {
    /// A version was saved; the first version created the prism.
    Version(VersionNumber),
    /// The prism got a custom lens.
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
    /// Who made the change; `None` for the terminal and for versions from before people were
    /// recorded.
    pub actor: Option<ActorName>,
    /// When the change was made.
    pub made_at: DateTime<Utc>,
    /// The value before the change, if an event has it: a name, a number, or columns and cutoffs of
    /// a lens.
    pub from: Option<EventDetail>,
    /// The value since the change, if an event has it.
    pub to: Option<EventDetail>,
    /// The reason, if the actor gave one.
    pub note: Option<EventDetail>,
}

/// A change before the name of its actor is known.
struct Change {
    what: ChangeOfPrism,
    person: Option<PersonId>,
    made_at: DateTime<Utc>,
    event: Option<Event>,
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

#[boxed]
impl Prisms<'_> {
    /// Every change of a prism, versions and others, newest first. The newest ones have the values
    /// before and after, from their events; older ones, and those by a version of this program
    /// without events, have only an actor and a moment.
    ///
    /// # Errors
    /// When there is no such prism in the account, or the database fails.
    pub async fn history(
        self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<Vec<PrismChange>, PrismError> {
        let database = &self.refract.database;
        let prism = self.find(account, prism).await?.id;
        let versions = database.list_versions(prism).await?;
        let changes = database.list_prism_changes(prism).await?;
        let versions = versions.into_iter().map(|version| {
            let what = ChangeOfPrism::Version(version.number);
            (what, version.made_by, version.created_at)
        });
        let changes = changes
            .into_iter()
            .map(|change| (change.kind.into(), change.made_by, change.made_at));
        let mut events = database
            .list_prism_events(account, prism, MOST_EVENTS)
            .await?;
        let entries = versions.chain(changes).map(|(what, person, made_at)| {
            // an event has the moment of the change that it records
            let is_same =
                |event: &Event| event.stamp.at == made_at && of_event(event) == Some(what);
            let place = events.iter().position(is_same);
            Change {
                event: place.map(|place| events.remove(place)),
                what,
                person,
                made_at,
            }
        });
        let mut all: Vec<_> = entries.collect();
        // changes that came with a version: a new name, a new lens
        all.extend(events.into_iter().rev().filter_map(|event| {
            Some(Change {
                what: of_event(&event).filter(|what| !matches!(what, ChangeOfPrism::Version(_)))?,
                person: event.stamp.actor.person(),
                made_at: event.stamp.at,
                event: Some(event),
            })
        }));
        // oldest first in each of the lists, so that changes of one moment keep their order
        all.reverse();
        all.sort_by_key(|change| Reverse(change.made_at));
        let people: Vec<_> = all.iter().filter_map(|change| change.person).collect();
        let names = self.refract.people().names(account, &people).await?;
        let all = all.into_iter().map(|change| {
            let (from, to, note) = match change.event {
                Some(event) => (event.from, event.to, event.stamp.note),
                None => (None, None, None),
            };
            PrismChange {
                what: change.what,
                actor: change.person.and_then(|person| names.get(&person).cloned()),
                made_at: change.made_at,
                from,
                to,
                note,
            }
        });
        Ok(all.collect())
    }
}

/// Changes of a prism other than its versions, as events name them.
const BESIDE_VERSIONS: [(EventAction, ChangeOfPrism); 5] = [
    (EventAction::LensSet, ChangeOfPrism::LensSet),
    (EventAction::LensReset, ChangeOfPrism::LensReset),
    (EventAction::PrismRenamed, ChangeOfPrism::Renamed),
    (EventAction::PrismArchived, ChangeOfPrism::Archived),
    (EventAction::PrismRestored, ChangeOfPrism::Restored),
];

/// The change of a prism that an event records.
fn of_event(event: &Event) -> Option<ChangeOfPrism> {
    if let EventAction::PrismCreated | EventAction::VersionSaved = event.action {
        let number = event.to.as_ref()?.as_str().parse().ok()?;
        return VersionNumber::new(number).map(ChangeOfPrism::Version);
    }
    let mut named = BESIDE_VERSIONS.iter();
    let named = named.find(|(action, _)| *action == event.action);
    named.map(|(_, what)| *what)
}

/// A prism with its lens, its history and its numbers of results.
pub struct PrismOverview {
    /// The prism, its lens and its latest version.
    pub prism_lens: PrismLens,
    /// Every change of the prism, newest first.
    pub changes: Vec<PrismChange>,
    /// The newest [`COMPARED_VERSIONS`] versions, newest first, each with what it changed.
    pub compared: Vec<(VersionNumber, Vec<VersionDifference>)>,
    /// Numbers of the prism's results.
    pub counts: PrismCounts,
}

/// A version with what it changed.
pub struct VersionOverview {
    /// The prism, its lens and its latest version.
    pub prism_lens: PrismLens,
    /// The number of the version that is shown.
    pub number: VersionNumber,
    /// The version that is shown.
    pub version: Arc<PrismVersion>,
    /// What the version changed; nothing for the first one.
    pub differences: Vec<VersionDifference>,
    /// Who saved the version; `None` for the terminal and for versions from before people were
    /// recorded.
    pub actor: Option<ActorName>,
    /// When the version was saved.
    pub made_at: DateTime<Utc>,
}

#[boxed]
impl Prisms<'_> {
    /// Finds a prism, its history and its numbers of results.
    ///
    /// # Errors
    /// When there is no such prism in the account, or the database fails.
    pub async fn overview(
        self,
        account: AccountId,
        prism: &PrismSelector,
    ) -> Result<PrismOverview, PrismError> {
        let prism_lens = self.refract.lenses().find(account, prism).await?;
        let id = PrismSelector::Id(prism_lens.prism.id);
        let changes = self.history(account, &id).await?;
        let numbers = changes.iter().filter_map(|change| match change.what {
            ChangeOfPrism::Version(number) => Some(number),
            ChangeOfPrism::LensSet
            | ChangeOfPrism::LensReset
            | ChangeOfPrism::Renamed
            | ChangeOfPrism::Archived
            | ChangeOfPrism::Restored => None,
        });
        let mut compared = Vec::new();
        for number in numbers.take(COMPARED_VERSIONS) {
            let version = self.find_version(&prism_lens.prism, number).await?;
            let differences = self.changed_by(&prism_lens, number, &version).await?;
            compared.push((number, differences));
        }
        let counts = self.refract.results().counts(account, Utc::now()).await?;
        let counts = counts.of_prism(prism_lens.prism.id).clone();
        Ok(PrismOverview {
            prism_lens,
            changes,
            compared,
            counts,
        })
    }

    /// Finds a version of a prism, with what it changed and who saved it.
    ///
    /// # Errors
    /// When there is no such prism or version in the account, or the database fails.
    pub async fn version_overview(
        self,
        account: AccountId,
        prism: &PrismSelector,
        number: VersionNumber,
    ) -> Result<VersionOverview, PrismError> {
        let prism_lens = self.refract.lenses().find(account, prism).await?;
        let version = self.find_version(&prism_lens.prism, number).await?;
        let changes = self
            .history(account, &PrismSelector::Id(prism_lens.prism.id))
            .await?;
        let mut changes = changes.into_iter();
        let saved = changes
            .find(|change| change.what == ChangeOfPrism::Version(number))
            .ok_or(PrismError::VersionNotFound)?;
        let differences = self.changed_by(&prism_lens, number, &version).await?;
        Ok(VersionOverview {
            prism_lens,
            number,
            version,
            differences,
            actor: saved.actor,
            made_at: saved.made_at,
        })
    }

    /// The differences between a version and the version before it.
    async fn changed_by(
        self,
        prism_lens: &PrismLens,
        number: VersionNumber,
        version: &PrismVersion,
    ) -> Result<Vec<VersionDifference>, PrismError> {
        let Some(before) = VersionNumber::new(number.get() - 1) else {
            return Ok(Vec::new());
        };
        let before = self.find_version(&prism_lens.prism, before).await?;
        Ok(differences(&before, version, &prism_lens.lens))
    }
}
