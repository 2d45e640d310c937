//! Events: what was changed in an account, read by owners and operators.
//!
//! Events hold the ids of people, keys and prisms; what these are called is looked up when events are
//! read.

mod choices;
mod export;
mod find_actors;
mod list;
mod names;
mod told;

pub use refract_persistence::{EventActors, EventFilter, EventRange};

pub use self::choices::{EventChoices, event_choices};
pub use self::export::{ListedEvents, export_events};
pub use self::find_actors::{ActorRefusal, find_actors};
pub use self::list::{FoundEvents, find_events, last_of_people};
pub use self::names::{EventName, ListedEvent};
pub use self::told::{ToldChange, say_told, told_changes};
