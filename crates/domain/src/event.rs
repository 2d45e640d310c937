//! Events: records of what was changed in an account, by whom and when. An event is never changed
//! or deleted.
//!
//! An event contains names, numbers and ids. It never contains texts, contexts, refs, passwords,
//! keys, tokens, or people's names and addresses: people and keys appear as ids.

mod action;
mod actor;
mod detail;
mod lens_change;

use chrono::{DateTime, Utc};

pub use self::action::EventAction;
pub use self::actor::{Actor, ActorKind, EventRequest, EventTarget, TargetKind};
pub use self::detail::EventDetail;
pub use self::lens_change::LensChangeDetails;
use crate::ids::{AccountId, EventId};

/// Actor, account, moment and request of a change: an event without its action and target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventStamp {
    /// `UUIDv7`; events are ordered by it.
    pub id: EventId,
    /// The account that is changed.
    pub account: AccountId,
    /// The moment of the change.
    pub at: DateTime<Utc>,
    /// Who makes the change.
    pub actor: Actor,
    /// The request that makes the change; `None` for commands and for nodes.
    pub request: Option<EventRequest>,
    /// The actor's reason for the change; `None` when none was given.
    pub note: Option<EventDetail>,
}

/// A change in an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// The actor, moment, request and note of the change.
    pub stamp: EventStamp,
    /// What was done.
    pub action: EventAction,
    /// The prism, key, person or account that was changed.
    pub target: EventTarget,
    /// The target's earlier state, if it is a name or a number.
    pub from: Option<EventDetail>,
    /// The target's new state, if it is a name or a number.
    pub to: Option<EventDetail>,
}

impl EventStamp {
    /// An event with this stamp and neither an earlier nor a new state.
    pub fn event(self, action: EventAction, target: EventTarget) -> Event {
        Event {
            stamp: self,
            action,
            target,
            from: None,
            to: None,
        }
    }

    /// The stamp for another event of one change: its id directly follows this one's, and it has no
    /// note.
    #[must_use]
    pub fn further(&self) -> Self {
        Self {
            id: self.id.just_after(),
            note: None,
            ..self.clone()
        }
    }

    /// The stamp with a note, appended to the existing one if there is one.
    #[must_use]
    pub fn noted(self, note: impl Into<EventDetail>) -> Self {
        let note = note.into();
        let note = match self.note {
            None => note,
            Some(earlier) => earlier.and(&note),
        };
        Self {
            note: Some(note),
            ..self
        }
    }
}
