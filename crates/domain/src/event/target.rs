//! Targets: the objects of events.

use uuid::Uuid;

use crate::ids::{AccountId, ApiKeyId, PersonId, PrismId};

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

#[cfg(test)]
mod tests {
    use super::*;

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
