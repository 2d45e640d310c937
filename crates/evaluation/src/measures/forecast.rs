//! Forecasts: probabilities of outcomes, and whether they came true.

use refract_domain::answer::probability::Probability;

/// A model's probability of an outcome, and whether that outcome was marked. Where rows are ordered
/// by confidence, the confidence that follows from the probability is in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    /// The model's probability, or the confidence.
    pub(crate) probability: Probability,
    /// Whether the outcome is the marked one.
    pub(crate) came_true: bool,
}
