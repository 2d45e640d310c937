//! Weights to probabilities that sum to exactly 1.

use refract_domain::probability::{ONE, Probability};

/// The softmax of these weights in whole millionths; what rounding left over goes to the largest.
pub(crate) fn shares(weights: &[f64]) -> Vec<Probability> {
    let highest = weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let grown: Vec<f64> = weights
        .iter()
        .map(|weight| (weight - highest).exp())
        .collect();
    let total: f64 = grown.iter().sum();
    let rounded = grown
        .iter()
        .map(|share| Probability::from_f64(share / total));
    let mut shares: Vec<Probability> = rounded.map(Option::unwrap_or_default).collect();
    let sum: u64 = shares.iter().copied().sum();
    let left_over = i64::from(ONE) - i64::try_from(sum).unwrap_or_default();
    let largest = shares.iter_mut().max();
    if let Some(largest) = largest {
        let corrected = i64::from(largest.millionths()) + left_over;
        let corrected = u32::try_from(corrected)
            .ok()
            .and_then(Probability::from_millionths);
        *largest = corrected.unwrap_or(*largest);
    }
    shares
}
