//! Names of the actors and targets of events.

use std::collections::{HashMap, HashSet};

use refract_domain::event::{Actor, Event, EventTarget};
use refract_domain::ids::{AccountId, ApiKeyId, PersonId, PrismId};
use refract_lens_rendering::EventRow;
use refract_persistence::{Database, PersistenceError, PersonNameRow, PrismNameRow};

/// An event, with the names of its actor and its target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedEvent {
    /// The event.
    pub event: Event,
    /// The name of the actor.
    pub by: EventName,
    /// The name of the target.
    pub target: EventName,
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
}

/// Events of an account with the names of their actors and targets. At most four queries.
pub(super) async fn named(
    database: &Database,
    account: AccountId,
    events: Vec<Event>,
) -> Result<Vec<ListedEvent>, PersistenceError> {
    let names = Names::load(database, account, &events).await?;
    let listed = events.into_iter().map(|event| ListedEvent {
        by: names.of_actor(event.stamp.actor),
        target: names.of_target(event.target),
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
        let mut names = Self::default();
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
