//! Actors: who makes a change.

use uuid::Uuid;

use crate::ids::{ApiKeyId, PersonId};

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
}
