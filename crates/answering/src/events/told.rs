//! Tells a person what somebody else changed about their way in: their role, or their password by a
//! link that somebody else made.

use refract_domain::event::{Event, EventAction, EventTarget};
use refract_domain::ids::{AccountId, EventId, PersonId};
use refract_persistence::{Database, EventFilter, EventRange, PersistenceError};

use super::names::{ListedEvent, named};

/// Changes that are told at most.
const MOST: u32 = 20;

/// A change of a person by somebody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToldChange {
    /// The change: another role, or a password that was chosen by a link.
    pub change: ListedEvent,
    /// The making of the link by which the password was chosen; `None` for a role, and for a link of
    /// which no event is known.
    pub link: Option<ListedEvent>,
}

/// What somebody else changed about a person from an event on, newest first.
///
/// # Errors
/// When the database fails.
pub async fn told_changes(
    database: &Database,
    account: AccountId,
    person: PersonId,
    from: EventId,
) -> Result<Vec<ToldChange>, PersistenceError> {
    let about = |action| EventFilter {
        target: Some(EventTarget::Person(person)),
        action: Some(action),
        ..EventFilter::default()
    };
    let since = EventRange::NewerThan(from.just_before());
    let mut changes = Vec::new();
    for action in [EventAction::RoleSet, EventAction::PasswordSet] {
        let listing = database.list_events(account, about(action), since, MOST);
        changes.extend(listing.await?);
    }
    changes.retain(|event| {
        let is_own = event.stamp.actor.person() == Some(person);
        event.action == EventAction::PasswordSet || !is_own
    });
    changes.sort_by_key(|event| std::cmp::Reverse(event.stamp.id));
    let mut told = Vec::new();
    for change in changes {
        let mut link = None;
        if change.action == EventAction::PasswordSet {
            let before = EventRange::OlderThan(change.stamp.id);
            let links = about(EventAction::LinkRenewed);
            let found = database.list_events(account, links, before, 1).await?;
            link = found.into_iter().next();
        }
        let by_self = |link: &Event| link.stamp.actor.person() == Some(person);
        if !link.as_ref().is_some_and(by_self) {
            told.push((change, link));
        }
    }
    let mut listed = Vec::new();
    for (change, link) in told {
        let link_known = link.is_some();
        let events = std::iter::once(change).chain(link).collect();
        let mut events = named(database, account, events).await?.into_iter();
        if let Some(change) = events.next() {
            let link = events.next().filter(|_| link_known);
            listed.push(ToldChange { change, link });
        }
    }
    Ok(listed)
}

/// Saves that a person was told of what was changed up to an event.
///
/// # Errors
/// When the database fails.
pub async fn say_told(
    database: &Database,
    account: AccountId,
    person: PersonId,
    up_to: EventId,
) -> Result<(), PersistenceError> {
    database.save_told(account, person, up_to).await
}
