//! Retention and erasure: which results are deleted by age or on request, and how.

mod delete_results;
mod purgeable_results;
mod rounds;

pub use self::delete_results::{CopiedExamples, DeletedRows, DeletionEvent};
pub use self::purgeable_results::{PurgeRange, PurgeableResult};
pub use self::rounds::RetentionRoundRow;
