//! Results: saved once, found by id or key, and listed.

pub(super) mod find;
pub(super) mod insert;
pub(super) mod lists;
pub(super) mod row;
mod save;

pub use self::find::FoundResult;
pub use self::lists::*;
pub use self::row::{NewResult, Provenance, ResultActorRow, ResultOrigin};
pub use self::save::SaveOutcome;
