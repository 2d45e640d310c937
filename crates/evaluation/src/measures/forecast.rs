//! Forecasts: probabilities of outcomes, and whether they came true.

use refract_domain::answer::probability::Probability;

/// A model's probability of an outcome, and whether that outcome was marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    /// The model's probability.
    pub(crate) probability: Probability,
    /// Whether the outcome is the marked one.
    pub(crate) came_true: bool,
}
