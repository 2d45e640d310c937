//! Events: what was changed in an account, by whom and when. An event never changes and is never
//! deleted.
//!
//! An event holds names, numbers and ids. Texts, contexts, refs, passwords, keys, tokens, addresses
//! and names of people are never part of one: people and keys are known by their ids.

mod action;
mod actor;
mod detail;
mod lens_change;
mod request;
mod target;

use chrono::{DateTime, Utc};

pub use self::action::EventAction;
pub use self::actor::{Actor, ActorKind};
pub use self::detail::EventDetail;
pub use self::lens_change::LensChangeDetails;
pub use self::request::EventRequest;
pub use self::target::{EventTarget, TargetKind};
use crate::ids::{AccountId, EventId};

/// Who changes something, in which account, when and in which request: an event that lacks only what
/// is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventStamp {
    /// `UUIDv7`, by which events are ordered.
    pub id: EventId,
    /// The account in which something is changed.
    pub account: AccountId,
    /// The moment of the change.
    pub at: DateTime<Utc>,
    /// Who changes something.
    pub actor: Actor,
    /// The request in which it is changed; `None` for commands and for nodes.
    pub request: Option<EventRequest>,
    /// Why it is changed, as the actor says; `None` when nothing is said.
    pub note: Option<EventDetail>,
}

/// Something that was changed in an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who changed it, when and in which request, and a note.
    pub stamp: EventStamp,
    /// What was done.
    pub action: EventAction,
    /// What it was done to.
    pub target: EventTarget,
    /// What the target was before, where that is a name or a number.
    pub from: Option<EventDetail>,
    /// What the target became, where that is a name or a number.
    pub to: Option<EventDetail>,
}

impl EventStamp {
    /// The event of an action of this stamp that says neither from what nor to what.
    pub fn event(self, action: EventAction, target: EventTarget) -> Event {
        Event {
            stamp: self,
            action,
            target,
            from: None,
            to: None,
        }
    }

    /// The stamp of a further event of one change: just after this one, without its note.
    #[must_use]
    pub fn further(&self) -> Self {
        Self {
            id: self.id.just_after(),
            note: None,
            ..self.clone()
        }
    }

    /// The stamp with a note after the one that it has.
    #[must_use]
    pub fn noted(self, note: impl Into<EventDetail>) -> Self {
        let note = note.into();
        let note = match self.note {
            None => note,
            Some(said) => said.and(&note),
        };
        Self {
            note: Some(note),
            ..self
        }
    }
}
