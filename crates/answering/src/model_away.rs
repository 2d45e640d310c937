//! When a model that fails again and again is taken to be away.

use std::num::NonZeroUsize;

/// Failures one after the other, beside those of calls that were under way.
const FAILURES_IN_A_ROW: u64 = 50;

/// How many failures in a row, of so many calls at once, mean that the model is away.
pub(crate) fn failures_that_tell(concurrency: NonZeroUsize) -> u64 {
    let under_way = u64::try_from(concurrency.get()).unwrap_or(u64::MAX);
    FAILURES_IN_A_ROW.saturating_add(under_way)
}
