//! Events: what was changed in an account, read by owners and operators.
//!
//! Events hold the ids of people, keys and prisms; their names are looked up when events are read.

mod export;
mod list;
mod notices;

use refract_domain::event::{Actor, EventRequest, EventStamp};
use refract_domain::ids::{AccountId, EventId};

pub use refract_persistence::{EventActors, EventFilter, EventRange};

pub use self::export::{EventExportError, ListedEvents};
pub use self::list::{ActorError, EventChoices, EventName, FoundEvents, ListedEvent};
pub use self::notices::ChangeNotice;

use crate::{Identity, new_id};

/// The use cases of events, from [`Identity::events`](crate::Identity::events).
#[derive(Clone, Copy)]
pub struct Events<'a> {
    pub(crate) identity: &'a Identity,
}

impl Identity {
    /// Events: what was changed in an account.
    pub fn events(&self) -> Events<'_> {
        Events { identity: self }
    }
}

/// The stamp of a change that an actor makes now in an account.
pub fn event_stamp(account: AccountId, actor: Actor, request: Option<EventRequest>) -> EventStamp {
    let (id, at) = new_id();
    EventStamp {
        id: EventId::new(id),
        account,
        at,
        actor,
        request,
        note: None,
    }
}
