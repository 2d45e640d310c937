//! Forgetting results: by age, and those of one person.
//!
//! A result goes whole: its texts, answers, reference and marks, and the idempotency key that it
//! holds, which is free again. Of a failed result and its retries, a purge takes those that are old
//! enough; a retry that stays retries none any more, and a failed result whose retry went may be
//! retried again. Erasing takes all of them, since each holds the texts that were sent.

mod erase;
mod purge;
mod retention;

pub use erase::{Erased, erase, erase_reference};
// commands say what is purged, and know no table
pub use purge::Purge;
pub use refract_persistence::PurgeRange;
pub use retention::{ImplausibleRoundError, Retention, RetentionOutcome};
