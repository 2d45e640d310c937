//! Scores to weights.

/// The softmax of these scores, not normalised: the highest score has weight 1.
pub(crate) fn softmax(scores: &[f64]) -> Vec<f64> {
    let highest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    scores.iter().map(|score| (score - highest).exp()).collect()
}
