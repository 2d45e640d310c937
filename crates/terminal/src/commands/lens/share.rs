//! Shares of counts.

/// The share of `part` in `whole`, from 0 to 1; 0 when `whole` is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    let millionths = part.saturating_mul(1_000_000) / whole.max(1);
    f64::from(u32::try_from(millionths).unwrap_or(u32::MAX)) / 1e6
}
