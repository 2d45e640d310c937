//! A distribution over any number of outcomes.

use serde_json::{Value, json};

/// Millionths shared by all outcomes but the first.
const OTHERS: u32 = 300_000;

/// Probabilities that sum to 1: most on the first outcome, equal shares on the others.
pub(super) fn shares(outcomes: usize) -> impl Iterator<Item = Value> {
    let others = u32::try_from(outcomes)
        .unwrap_or(u32::MAX)
        .saturating_sub(1);
    let share = OTHERS.checked_div(others).unwrap_or(0);
    let first = 1_000_000 - share * others;
    let shares = std::iter::once(first).chain(std::iter::repeat(share));
    shares
        .take(outcomes)
        .map(|millionths| json!(f64::from(millionths) / 1e6))
}
