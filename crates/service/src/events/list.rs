//! Lists events, newest first, and finds the actors and targets by which they are filtered.

use refract_domain::account::person::Email;
use refract_domain::event::{Actor, ActorKind, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId, EventId, PersonId, parse_uuid};
use refract_persistence::{EventActors, EventFilter, EventRange, PersistenceError};

use super::names::{ListedEvent, named};
use crate::events::Events;

/// A page of events, newest first in either direction of paging.
#[derive(Clone, Debug)]
pub struct FoundEvents {
    /// The events.
    pub events: Vec<ListedEvent>,
    /// The event after which [newer ones](EventRange::NewerThan) begin; `None` when there is none.
    pub newer: Option<EventId>,
    /// The event before which [older ones](EventRange::OlderThan) begin; `None` when there is none.
    pub older: Option<EventId>,
}

impl Events<'_> {
    /// A page of at most `most` events of an account that match a filter.
    pub async fn find(
        self,
        account: AccountId,
        filter: EventFilter,
        range: EventRange,
        most: u32,
    ) -> Result<FoundEvents, PersistenceError> {
        let database = &self.refract.database;
        // one event more shows whether there is another page
        let listing = database.list_events(account, filter, range, most.saturating_add(1));
        let mut found = listing.await?;
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let has_more = found.len() > most;
        if has_more {
            match range {
                EventRange::Newest | EventRange::OlderThan(_) => drop(found.pop()),
                EventRange::NewerThan(_) => drop(found.remove(0)),
            }
        }
        let first = found.first().map(|event| event.stamp.id);
        let last = found.last().map(|event| event.stamp.id);
        let (newer, older) = match range {
            EventRange::Newest => (None, last.filter(|_| has_more)),
            EventRange::OlderThan(_) => (first, last.filter(|_| has_more)),
            EventRange::NewerThan(_) => (first.filter(|_| has_more), last),
        };
        Ok(FoundEvents {
            events: named(database, account, found).await?,
            newer,
            older,
        })
    }

    /// The newest event of each person of an account, apart from signing in and out.
    pub async fn last_of_people(
        self,
        account: AccountId,
    ) -> Result<Vec<ListedEvent>, PersistenceError> {
        let database = &self.refract.database;
        let found = database.list_last_events(account).await?;
        named(database, account, found).await
    }
}

/// The actors and targets of an account with their names. Removed people are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventChoices {
    /// People in the order in which they were invited, then operators and nodes.
    pub actors: Vec<(Actor, String)>,
    /// Prisms, keys and people, each in the order of creation.
    pub targets: Vec<(EventTarget, String)>,
}

impl Events<'_> {
    /// The actors and targets that a form offers to filter the events of an account by. Three
    /// queries.
    pub async fn choices(self, account: AccountId) -> Result<EventChoices, PersistenceError> {
        let database = &self.refract.database;
        let people = database.list_people(account).await?.into_iter();
        let people: Vec<_> = people
            .map(|row| (row.id, row.name.unwrap_or_else(|| row.email.to_string())))
            .collect();
        let prisms = database.list_prisms(account).await?;
        let keys = database.list_uncounted_api_keys(account).await?;
        let actors = people
            .iter()
            .map(|(id, name)| (Actor::Person(*id), name.clone()));
        let others = [Actor::Operator, Actor::Node].map(|it| (it, it.kind().name().to_owned()));
        let prisms = prisms
            .into_iter()
            .map(|row| (EventTarget::Prism(row.id), row.name));
        let keys = keys
            .into_iter()
            .map(|row| (EventTarget::Key(row.id), row.name));
        let of_people = people
            .iter()
            .map(|(id, name)| (EventTarget::Person(*id), name.clone()));
        Ok(EventChoices {
            actors: actors.chain(others).collect(),
            targets: prisms.chain(keys).chain(of_people).collect(),
        })
    }
}

/// Why no actors were found.
#[derive(Debug, thiserror::Error)]
pub enum ActorError {
    /// No actor of the account has this name.
    #[error(
        "nobody of the account is called '{0}': expected the address of a person, the label or the id \
         of a key, operator or node (see `refract person list` and `refract key list`)"
    )]
    Unknown(String),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl Events<'_> {
    /// The actors of an account with this name: `operator`, `node`, the address of a person
    /// (removed people included), or the label or the id of a key.
    ///
    /// # Errors
    /// When no actor has this name, or the database fails.
    pub async fn find_actors(
        self,
        account: AccountId,
        who: &str,
    ) -> Result<EventActors, ActorError> {
        let database = &self.refract.database;
        let who = who.trim();
        let all_of = |kind| EventActors {
            kind,
            ids: Vec::new(),
        };
        match who {
            "operator" => return Ok(all_of(ActorKind::Operator)),
            "node" => return Ok(all_of(ActorKind::Node)),
            _ => {}
        }
        if let Ok(email) = Email::parse(who) {
            let people = database.list_people_of_email(account, email.as_str());
            let people = people.await?;
            if !people.is_empty() {
                return Ok(EventActors {
                    kind: ActorKind::Person,
                    ids: people.into_iter().map(PersonId::uuid).collect(),
                });
            }
        }
        let keys = match parse_uuid(who) {
            Some(id) => {
                let found = database
                    .list_key_names(account, &[ApiKeyId::new(id)])
                    .await?;
                found.into_iter().map(|(key, _)| key).collect()
            }
            None => database.list_keys_of_name(account, who).await?,
        };
        if keys.is_empty() {
            return Err(ActorError::Unknown(who.to_owned()));
        }
        Ok(EventActors {
            kind: ActorKind::Key,
            ids: keys.into_iter().map(ApiKeyId::uuid).collect(),
        })
    }
}
