//! Deletion of results: retention by age, and erasure of one person's results.
//!
//! A result is deleted as a whole: its texts, answers, reference and marks, and its idempotency
//! key, which is free again. A purge deletes a failed result and its retries independently, each
//! when it is old enough; a surviving retry loses its `retry_of`, and a failed result whose retry
//! was deleted may be retried again. Erasure deletes all of them, since each has the texts that
//! were sent.

mod deletion;
mod erase;
mod rounds;

pub use refract_persistence::PurgeRange;

pub use self::deletion::{Purge, PurgedBatch};
pub use self::erase::Erased;
pub use self::rounds::{ImplausibleRoundError, RetentionOutcome, RetentionRounds};
use crate::Refract;

/// The use cases of retention, from [`Refract::retention`](crate::Refract::retention).
#[derive(Clone, Copy)]
pub struct Retention<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Deletion of results: retention by age, and erasure on request.
    pub fn retention(&self) -> Retention<'_> {
        Retention { refract: self }
    }
}
