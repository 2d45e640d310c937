//! Deletion of results: by age, and erasure of those of one person.
//!
//! A result goes whole: its texts, answers, reference and marks, and the idempotency key that it
//! holds, which is free again. Of a failed result and its retries, a purge takes those that are old
//! enough; a retry that stays retries none any more, and a failed result whose retry went may be
//! retried again. Erasing takes all of them, since each holds the texts that were sent.

mod deletion;
mod erase;
mod purge;
mod rounds;

pub use refract_persistence::PurgeRange;

pub use self::erase::Erased;
pub use self::purge::{Purge, PurgedBatch};
pub use self::rounds::{ImplausibleRoundError, RetentionOutcome, RetentionRounds};
use crate::Refract;

/// The use cases of retention, from [`Refract::retention`](crate::Refract::retention).
#[derive(Clone, Copy)]
pub struct Retention<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Deletion of results, by age and by name.
    pub fn retention(&self) -> Retention<'_> {
        Retention { refract: self }
    }
}
