//! How many failures in a row mean that the model is away.

use std::num::NonZeroUsize;

/// The threshold for texts that are asked about one after another.
const FAILURES_IN_A_ROW: u64 = 50;

/// The number of failures in a row, without an answer in between, after which work on many texts
/// stops: 50, and one for each text that may be in flight when the first of them fails.
pub fn failure_threshold(concurrency: NonZeroUsize) -> u64 {
    let in_flight = u64::try_from(concurrency.get()).unwrap_or(u64::MAX);
    FAILURES_IN_A_ROW.saturating_add(in_flight)
}
