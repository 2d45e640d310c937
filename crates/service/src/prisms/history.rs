//! Who changed what of a prism, and when.

use std::cmp::Reverse;

use chrono::{DateTime, Utc};
use refract_domain::event::{Event, EventAction, EventDetail};
use refract_domain::ids::{AccountId, PersonId};
use refract_domain::prism::VersionNumber;
use refract_domain::prism::slug::PrismSelector;
use refract_persistence::ChangeKind;

use super::error::PrismError;
use crate::people::ActorName;
use crate::prisms::Prisms;

/// The newest changes of a prism that are described by events.
const MOST_EVENTS: u32 = 200;

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
