//! Weights to probabilities that sum to exactly 1.

use refract_domain::probability::{ONE, Probability};

/// Each weight's share in whole millionths; what rounding left over goes to the largest. All zero
/// where the weights are.
pub(crate) fn of(weights: &[f64]) -> Vec<Probability> {
    let total: f64 = weights.iter().sum();
    let rounded = weights
        .iter()
        .map(|weight| Probability::from_f64(weight / total));
    let mut shares: Vec<Probability> = rounded.map(Option::unwrap_or_default).collect();
    let sum: u64 = shares.iter().copied().sum();
    if sum == 0 {
        return shares;
    }
    let left_over = i64::from(ONE) - i64::try_from(sum).unwrap_or_default();
    if let Some(largest) = shares.iter_mut().max() {
        let corrected = i64::from(largest.millionths()) + left_over;
        let corrected = u32::try_from(corrected)
            .ok()
            .and_then(Probability::from_millionths);
        *largest = corrected.unwrap_or(*largest);
    }
    shares
}
