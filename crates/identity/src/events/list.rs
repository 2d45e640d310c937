//! Lists events, newest first, with the names of their actors and targets, and finds the actors and
//! targets by which events are filtered.

use refract_boxed_futures::boxed;
use std::collections::{BTreeSet, HashMap, HashSet};

use refract_domain::account::Email;
use refract_domain::event::{Actor, ActorKind, Event, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId, EventId, FileRunId, PersonId, PrismId, parse_uuid};
use refract_lens_rendering::EventRow;
use refract_persistence::{
    Database, EventActors, EventFilter, EventRange, PersistenceError, PersonNameRow, PrismNameRow,
};

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

/// The actors and targets of an account with their names. Removed people are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventChoices {
    /// People in the order in which they were invited, then operators and nodes.
    pub actors: Vec<(Actor, String)>,
    /// Prisms, keys and people, each in the order of creation.
    pub targets: Vec<(EventTarget, String)>,
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

#[boxed]
impl Events<'_> {
    /// A page of at most `most` events of an account that match a filter.
    pub async fn find(
        self,
        account: AccountId,
        filter: EventFilter,
        range: EventRange,
        most: u32,
    ) -> Result<FoundEvents, PersistenceError> {
        let database = &self.identity.database;
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
        let database = &self.identity.database;
        let found = database.list_last_events(account).await?;
        named(database, account, found).await
    }

    /// The actors and targets that a form offers to filter the events of an account by. Three
    /// queries.
    pub async fn choices(self, account: AccountId) -> Result<EventChoices, PersistenceError> {
        let database = &self.identity.database;
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
        let database = &self.identity.database;
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

/// An event, with the names of its actor and its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEvent {
    /// The event.
    pub event: Event,
    /// The name of the actor.
    pub by: EventName,
    /// The name of the target.
    pub target: EventName,
    /// The file run that the note names, and the name of its file.
    pub file_run: Option<(FileRunId, String)>,
}

/// The name of an actor or a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventName {
    /// For programs: a person's address, a key's id, a prism's slug, an account's name, `operator`
    /// or `node`.
    pub reference: String,
    /// For people: a person's name, a key's label, a prism's name, or the reference.
    pub name: String,
}

impl ListedEvent {
    /// The event as a row of an export.
    pub fn row(&self) -> EventRow<'_> {
        EventRow {
            event: &self.event,
            by: &self.by.reference,
            target: &self.target.reference,
        }
    }
}

impl EventName {
    /// A name that is the same for programs and for people.
    fn plain(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            reference: name.clone(),
            name,
        }
    }
}

/// Names by id, of everything that some events refer to.
#[derive(Default)]
struct Names {
    account: Option<String>,
    people: HashMap<PersonId, PersonNameRow>,
    keys: HashMap<ApiKeyId, String>,
    prisms: HashMap<PrismId, PrismNameRow>,
    files: HashMap<FileRunId, String>,
}

/// Events of an account with the names of their actors and targets. At most five queries.
pub(super) async fn named(
    database: &Database,
    account: AccountId,
    events: Vec<Event>,
) -> Result<Vec<ListedEvent>, PersistenceError> {
    let names = Names::load(database, account, &events).await?;
    let listed = events.into_iter().map(|event| ListedEvent {
        by: names.of_actor(event.stamp.actor),
        target: names.of_target(event.target),
        file_run: names.of_note(&event),
        event,
    });
    Ok(listed.collect())
}

impl Names {
    async fn load(
        database: &Database,
        account: AccountId,
        events: &[Event],
    ) -> Result<Self, PersistenceError> {
        let (mut people, mut keys) = (HashSet::new(), HashSet::new());
        let mut prisms = HashSet::new();
        let mut is_account_named = false;
        for event in events {
            match event.stamp.actor {
                Actor::Person(person) => drop(people.insert(person)),
                Actor::Key(key) => drop(keys.insert(key)),
                Actor::Operator | Actor::Node => {}
            }
            match event.target {
                EventTarget::Account(_) => is_account_named = true,
                EventTarget::Prism(prism) => drop(prisms.insert(prism)),
                EventTarget::Key(key) => drop(keys.insert(key)),
                EventTarget::Person(person) => drop(people.insert(person)),
                EventTarget::Unknown(_) => {}
            }
        }
        let runs: BTreeSet<_> = events.iter().filter_map(file_run).collect();
        let files = database.list_file_names(account, runs).await?;
        let mut names = Self {
            files: files.into_iter().collect(),
            ..Self::default()
        };
        if is_account_named {
            names.account = database.find_account_name(account).await?;
        }
        if !people.is_empty() {
            let people: Vec<_> = people.into_iter().collect();
            let rows = database.list_person_names(account, &people).await?;
            names.people = rows.into_iter().map(|row| (row.id, row)).collect();
        }
        if !keys.is_empty() {
            let keys: Vec<_> = keys.into_iter().collect();
            let rows = database.list_key_names(account, &keys).await?;
            names.keys = rows.into_iter().collect();
        }
        if !prisms.is_empty() {
            let prisms: Vec<_> = prisms.into_iter().collect();
            let rows = database.list_prism_names(account, &prisms).await?;
            names.prisms = rows.into_iter().map(|row| (row.id, row)).collect();
        }
        Ok(names)
    }

    fn of_actor(&self, actor: Actor) -> EventName {
        match actor {
            Actor::Person(person) => self.of_person(person),
            Actor::Key(key) => self.of_key(key),
            Actor::Operator | Actor::Node => EventName::plain(actor.kind().name()),
        }
    }

    fn of_target(&self, target: EventTarget) -> EventName {
        match target {
            EventTarget::Account(account) => {
                let name = self.account.clone();
                EventName::plain(name.unwrap_or_else(|| account.to_string()))
            }
            EventTarget::Prism(prism) => match self.prisms.get(&prism) {
                Some(row) => EventName {
                    reference: row.slug.clone(),
                    name: row.name.clone(),
                },
                None => EventName::plain(prism.to_string()),
            },
            EventTarget::Key(key) => self.of_key(key),
            EventTarget::Person(person) => self.of_person(person),
            EventTarget::Unknown(id) => EventName::plain(id.to_string()),
        }
    }

    fn of_note(&self, event: &Event) -> Option<(FileRunId, String)> {
        let run = file_run(event)?;
        Some((run, self.files.get(&run)?.clone()))
    }

    fn of_person(&self, person: PersonId) -> EventName {
        match self.people.get(&person) {
            Some(row) => EventName {
                reference: row.email.clone(),
                name: row.name.clone().unwrap_or_else(|| row.email.clone()),
            },
            None => EventName::plain(person.to_string()),
        }
    }

    fn of_key(&self, key: ApiKeyId) -> EventName {
        let name = self.keys.get(&key).cloned();
        EventName {
            reference: key.to_string(),
            name: name.unwrap_or_else(|| key.to_string()),
        }
    }
}

/// The file run that the note of an event names.
fn file_run(event: &Event) -> Option<FileRunId> {
    event.stamp.note.as_ref()?.named_file_run()
}
