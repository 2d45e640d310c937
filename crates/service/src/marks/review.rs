//! Review: a person judges the results of a queue, one text after the other.
//!
//! A *sitting* has the results of its queue, drawn when it begins, and what the person judged. It is
//! saved, so that the person goes on where they stopped, on any node. Marks are saved with the way
//! in which their results were chosen, since only a random draw measures quality.

mod draw;
mod judge;
mod judged;
mod next;
mod queue;
mod sitting;

pub use self::draw::REVIEWED_NEWEST;
pub use self::judge::{Judgement, JudgementInput};
pub use self::next::{NextToReview, ReviewFrom, ReviewItem};
pub use self::queue::{QueueKind, ReviewQueue};
pub use self::sitting::{MeasuredSoFar, ReviewStep, Sitting};
