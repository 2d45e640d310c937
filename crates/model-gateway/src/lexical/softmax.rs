//! Scores to probabilities.

use refract_domain::probability::Probability;

use crate::shares;

/// The softmax of these scores, in whole millionths that sum to 1.
pub(crate) fn shares(scores: &[f64]) -> Vec<Probability> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let grown: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
    shares::of(&grown)
}
