//! Actors, who make a change; targets, the objects of events; and the request that made a change.

use std::fmt;
use std::sync::Arc;

use uuid::Uuid;

use crate::ids::{AccountId, ApiKeyId, PersonId, PrismId};

/// Who makes a change in an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// A person, in the app.
    Person(PersonId),
    /// A program that calls the API with this key.
    Key(ApiKeyId),
    /// An operator, at the terminal.
    Operator,
    /// A node on its own initiative, such as one that purges old results.
    Node,
}

/// The kind of an actor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ActorKind {
    /// A person, in the app.
    Person,
    /// A program with an API key.
    Key,
    /// An operator, at the terminal.
    Operator,
    /// A node on its own initiative.
    Node,
}

impl Actor {
    /// The actor's kind.
    pub fn kind(self) -> ActorKind {
        match self {
            Self::Person(_) => ActorKind::Person,
            Self::Key(_) => ActorKind::Key,
            Self::Operator => ActorKind::Operator,
            Self::Node => ActorKind::Node,
        }
    }

    /// The id of the person or the key; `None` for operators and nodes.
    pub fn id(self) -> Option<Uuid> {
        match self {
            Self::Person(person) => Some(person.uuid()),
            Self::Key(key) => Some(key.uuid()),
            Self::Operator | Self::Node => None,
        }
    }

    /// The actor of a kind with an id; `None` when a person or key has no id, or when another kind
    /// has one.
    pub fn saved(kind: ActorKind, id: Option<Uuid>) -> Option<Self> {
        match (kind, id) {
            (ActorKind::Person, Some(id)) => Some(Self::Person(PersonId::new(id))),
            (ActorKind::Key, Some(id)) => Some(Self::Key(ApiKeyId::new(id))),
            (ActorKind::Operator, None) => Some(Self::Operator),
            (ActorKind::Node, None) => Some(Self::Node),
            (ActorKind::Person | ActorKind::Key, None)
            | (ActorKind::Operator | ActorKind::Node, Some(_)) => None,
        }
    }

    /// The person, when the actor is one.
    pub fn person(self) -> Option<PersonId> {
        match self {
            Self::Person(person) => Some(person),
            Self::Key(_) | Self::Operator | Self::Node => None,
        }
    }

    /// The API key, when the actor is one.
    pub fn key(self) -> Option<ApiKeyId> {
        match self {
            Self::Key(key) => Some(key),
            Self::Person(_) | Self::Operator | Self::Node => None,
        }
    }
}

impl ActorKind {
    const ALL: [Self; 4] = [Self::Person, Self::Key, Self::Operator, Self::Node];

    /// The kind's name: `person`, `key`, `operator` or `node`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Key => "key",
            Self::Operator => "operator",
            Self::Node => "node",
        }
    }

    /// The kind with this name; `None` for any other text.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The object of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventTarget {
    /// The account as a whole.
    Account(AccountId),
    /// A prism, its lens or its results.
    Prism(PrismId),
    /// An API key.
    Key(ApiKeyId),
    /// A person, their role, their password or their sessions.
    Person(PersonId),
    /// A target of a kind that only a newer version of this program has. It is read and never
    /// saved.
    Unknown(Uuid),
}

/// The kind of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TargetKind {
    /// The account as a whole.
    Account,
    /// A prism, its lens or its results.
    Prism,
    /// An API key.
    Key,
    /// A person.
    Person,
    /// A kind that only a newer version of this program has.
    Unknown,
}

impl EventTarget {
    /// The target's kind.
    pub fn kind(self) -> TargetKind {
        match self {
            Self::Account(_) => TargetKind::Account,
            Self::Prism(_) => TargetKind::Prism,
            Self::Key(_) => TargetKind::Key,
            Self::Person(_) => TargetKind::Person,
            Self::Unknown(_) => TargetKind::Unknown,
        }
    }

    /// The target's id.
    pub fn id(self) -> Uuid {
        match self {
            Self::Account(account) => account.uuid(),
            Self::Prism(prism) => prism.uuid(),
            Self::Key(key) => key.uuid(),
            Self::Person(person) => person.uuid(),
            Self::Unknown(id) => id,
        }
    }

    /// The target of a kind with this id.
    pub fn saved(kind: TargetKind, id: Uuid) -> Self {
        match kind {
            TargetKind::Account => Self::Account(AccountId::new(id)),
            TargetKind::Prism => Self::Prism(PrismId::new(id)),
            TargetKind::Key => Self::Key(ApiKeyId::new(id)),
            TargetKind::Person => Self::Person(PersonId::new(id)),
            TargetKind::Unknown => Self::Unknown(id),
        }
    }
}

impl TargetKind {
    /// Every kind that this version has.
    pub const ALL: [Self; 4] = [Self::Account, Self::Prism, Self::Key, Self::Person];

    /// The kind's name: `account`, `prism`, `key`, `person`, or `unknown` for a newer version's
    /// kind.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Account => "account",
            Self::Prism => "prism",
            Self::Key => "key",
            Self::Person => "person",
            Self::Unknown => "unknown",
        }
    }

    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// The id of the request that made a change, as in the log and the response. Clones share the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventRequest(Arc<str>);

impl EventRequest {
    /// A request id that the HTTP layer has validated or generated (readings).
    pub fn new(id: &impl fmt::Display) -> Self {
        Self(id.to_string().into())
    }

    /// A request id read from the database, which is not checked again.
    pub fn saved(id: String) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_is_saved_as_kind_and_id() {
        let id = Uuid::from_u128(7);
        for actor in [
            Actor::Person(PersonId::new(id)),
            Actor::Key(ApiKeyId::new(id)),
            Actor::Operator,
            Actor::Node,
        ] {
            let kind = ActorKind::named(actor.kind().name()).unwrap();
            assert_eq!(Actor::saved(kind, actor.id()), Some(actor));
            let other_id = actor.id().is_none().then_some(id);
            assert_eq!(Actor::saved(kind, other_id), None);
        }
        assert_eq!(ActorKind::named("terminal"), None);
    }

    #[test]
    fn a_target_is_saved_as_kind_and_id() {
        let id = Uuid::from_u128(7);
        for kind in TargetKind::ALL {
            let target = EventTarget::saved(kind, id);
            assert_eq!((target.kind(), target.id()), (kind, id));
            assert_eq!(TargetKind::named(kind.name()), Some(kind));
        }
        assert_eq!(TargetKind::named("result"), None);
        let newer = EventTarget::saved(TargetKind::Unknown, id);
        assert_eq!((newer.kind().name(), newer.id()), ("unknown", id));
        assert_eq!(TargetKind::named("unknown"), None);
    }
}
