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
