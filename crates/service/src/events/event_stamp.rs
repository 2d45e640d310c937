//! The ids and moments of events.

use chrono::Utc;
use refract_domain::event::{Actor, EventRequest, EventStamp};
use refract_domain::ids::{AccountId, EventId};
use uuid::Uuid;

/// The stamp of a change that an actor makes now in an account.
pub fn event_stamp(account: AccountId, actor: Actor, request: Option<EventRequest>) -> EventStamp {
    EventStamp {
        id: EventId::new(Uuid::now_v7()),
        account,
        at: Utc::now(),
        actor,
        request,
        note: None,
    }
}
