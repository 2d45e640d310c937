//! Stored answers with the correct outcomes, as judged by people.

pub mod answer;
pub mod answers;

pub(crate) use self::answer::PlacedOutcome;
pub use self::answer::{MarkedAnswer, NotComparable, predicted};
pub use self::answers::MarkedAnswers;
