//! Events: what was changed in an account, by whom and when. An event is never changed or deleted.
//!
//! An event contains names, numbers and ids. It never contains a text, context, ref, password, key
//! or token, nor a person's name or address: people and API keys are identified by their ids.

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

/// Something that was changed in an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Who changed it, when and in which request, and a note.
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
    /// The event of an action with this stamp; `from` and `to` are `None`.
    pub fn event(self, action: EventAction, target: EventTarget) -> Event {
        Event {
            stamp: self,
            action,
            target,
            from: None,
            to: None,
        }
    }

    /// The stamp of a further event of one change: its id is just after this one, and it has no
    /// note.
    #[must_use]
    pub fn further(&self) -> Self {
        Self {
            id: self.id.just_after(),
            note: None,
            ..self.clone()
        }
    }

    /// The stamp with another note appended.
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
