//! Results: saved once, found by id or key, and listed.

mod actor;
pub(super) mod find;
pub(super) mod insert;
pub(super) mod lists;
mod model_names;
mod new_result;
pub(super) mod provenance;
pub(super) mod row;
mod save;
pub(super) mod usage;

pub use self::actor::ResultActorRow;
pub use self::find::FoundResult;
pub use self::lists::*;
pub use self::new_result::NewResult;
pub use self::provenance::{Provenance, ResultOrigin};
pub use self::save::SaveOutcome;
pub use self::usage::{Usage, UsageDimension, UsageGroup, UsageScope};
