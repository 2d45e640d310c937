//! Events: what was changed in an account, read by owners and operators.
//!
//! Events hold the ids of people, keys and prisms; their names are looked up when events are read.

mod choices;
pub(crate) mod event_stamp;
mod export;
pub(crate) mod export_event;
mod find_actors;
mod list;
mod names;
mod notices;

pub use refract_persistence::{EventActors, EventFilter, EventRange};

pub use self::choices::EventChoices;
pub use self::event_stamp::event_stamp;
pub use self::export::ListedEvents;
pub use self::find_actors::ActorError;
pub use self::list::FoundEvents;
pub use self::names::{EventName, ListedEvent};
pub use self::notices::ChangeNotice;

use crate::Refract;

/// The use cases of events, from [`Refract::events`](crate::Refract::events).
#[derive(Clone, Copy)]
pub struct Events<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Events: what was changed in an account.
    pub fn events(&self) -> Events<'_> {
        Events { refract: self }
    }
}
