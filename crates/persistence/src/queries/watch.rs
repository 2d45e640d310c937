//! Counts of results by hour: each result is counted once, after a watermark, and the counts are
//! stored with the new watermark. What is counted is not known here: counts are a text.

mod countable_results;
mod hours;

pub use self::countable_results::CountableResult;
pub use self::hours::{KeptHours, NewHours, WatchHourRow};
