//! Announces to a person the changes that others made to their access: to their role, to their
//! one-time codes, or to their password through a link made by another person. A link with the sign-in
//! provider is announced too: somebody to whom the provider gives the address made it.

use refract_boxed_futures::boxed;
use std::cmp::Reverse;

use chrono::TimeDelta;
use refract_domain::event::{Event, EventAction, EventTarget};
use refract_domain::ids::{AccountId, EventId, PersonId};
use refract_persistence::{Database, EventFilter, EventRange, PersistenceError};

use super::list::{ListedEvent, named};
use crate::events::Events;

/// Most changes of a kind that are announced.
const MOST: u32 = 20;
/// How long a new password is announced again together with the next one.
const SHORTLY: TimeDelta = TimeDelta::days(90);

/// A change of a person by another person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeNotice {
    /// The change: another role, one-time codes that were removed, a password that was chosen by a
    /// link, or a link with the sign-in provider.
    pub change: ListedEvent,
    /// The creation of the link by which the password was chosen; `None` for other
    /// changes, and for a link without a known event.
    pub link: Option<ListedEvent>,
}

#[boxed]
impl Events<'_> {
    /// Changes of a person by others from an event on, newest first. A new password brings back the
    /// passwords chosen by links shortly before, even acknowledged ones: an intruder who had
    /// accepted the link may have acknowledged them.
    pub async fn change_notices(
        self,
        account: AccountId,
        person: PersonId,
        from: EventId,
    ) -> Result<Vec<ChangeNotice>, PersistenceError> {
        let database = &self.identity.database;
        let telling = Telling {
            database,
            account,
            person,
        };
        let since = EventRange::NewerThan(from.just_before());
        let roles = telling.about(EventAction::RoleSet);
        let linked = telling.about(EventAction::ProviderLinked);
        let passwords = telling.about(EventAction::PasswordSet);
        let codes = telling.about(EventAction::CodesRemoved);
        let mut found = telling.by_others(roles, since).await?;
        found.extend(telling.by_others(codes, since).await?);
        found.extend(telling.by_others(linked, since).await?);
        let replaced = telling.by_others(passwords.clone(), since).await?;
        if let Some((newest, _)) = replaced.first() {
            let shortly_before = EventFilter {
                since: newest.stamp.at.checked_sub_signed(SHORTLY),
                ..passwords
            };
            let earlier = EventRange::OlderThan(from);
            found.extend(telling.by_others(shortly_before, earlier).await?);
        }
        found.extend(replaced);
        found.sort_by_key(|(change, _)| Reverse(change.stamp.id));
        let mut listed = Vec::new();
        for (change, link) in found {
            let events = std::iter::once(change).chain(link).collect();
            let mut events = named(database, account, events).await?.into_iter();
            if let Some(change) = events.next() {
                let link = events.next();
                listed.push(ChangeNotice { change, link });
            }
        }
        Ok(listed)
    }
}

/// The person to whom changes are announced.
struct Telling<'a> {
    database: &'a Database,
    account: AccountId,
    person: PersonId,
}

impl Telling<'_> {
    /// The events of this action about the person.
    fn about(&self, action: EventAction) -> EventFilter {
        EventFilter {
            target: Some(EventTarget::Person(self.person)),
            action: Some(action),
            ..EventFilter::default()
        }
    }

    /// Changes of the person by others, or through links made by others, newest first, each with
    /// the creation of its link.
    async fn by_others(
        &self,
        filter: EventFilter,
        range: EventRange,
    ) -> Result<Vec<(Event, Option<Event>)>, PersistenceError> {
        let (database, account) = (self.database, self.account);
        let mut by_others = Vec::new();
        for change in database.list_events(account, filter, range, MOST).await? {
            let mut link = None;
            if change.action == EventAction::PasswordSet {
                let before = EventRange::OlderThan(change.stamp.id);
                let links = self.about(EventAction::LinkRenewed);
                let found = database.list_events(account, links, before, 1).await?;
                link = found.into_iter().next();
            }
            let is_by_another = match (&link, change.action) {
                (Some(link), _) => !self.is_by_themselves(link),
                (None, EventAction::PasswordSet | EventAction::ProviderLinked) => true,
                (None, _) => !self.is_by_themselves(&change),
            };
            if is_by_another {
                by_others.push((change, link));
            }
        }
        Ok(by_others)
    }

    fn is_by_themselves(&self, event: &Event) -> bool {
        event.stamp.actor.person() == Some(self.person)
    }
}

#[boxed]
impl Events<'_> {
    /// Records that the changes up to an event were announced to a person.
    pub async fn mark_seen(
        self,
        account: AccountId,
        person: PersonId,
        up_to: EventId,
    ) -> Result<(), PersistenceError> {
        self.identity
            .database
            .save_seen(account, person, up_to)
            .await
    }
}
