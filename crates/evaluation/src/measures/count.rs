//! Counts as doubles.

/// The double nearest to a count, which is exact below 2^53.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "an f64 holds every count of answers below 2^53 exactly"
)]
pub(crate) fn to_f64(count: u64) -> f64 {
    count as f64
}

/// The quotient of two counts; `None` when the divisor is 0.
pub(crate) fn ratio(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| to_f64(count) / to_f64(of))
}

/// The quotient of two sums of counts and distances; `None` when the divisor is 0.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "the nearest doubles of the sums are meant"
)]
pub(crate) fn signed_ratio(sum: i128, of: i128) -> Option<f64> {
    (of != 0).then(|| sum as f64 / of as f64)
}

/// The mean of numbers, the same in every order; `None` of none.
pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    let count = u64::try_from(numbers.len()).unwrap_or(u64::MAX);
    (count > 0).then(|| numbers.iter().sum::<f64>() / to_f64(count))
}
