//! A probability beside what came true.

use refract_domain::answer::probability::Probability;

/// A probability that was stated for an outcome, and whether that outcome was marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    /// The stated probability.
    pub(crate) probability: Probability,
    /// Whether the outcome is the marked one.
    pub(crate) came_true: bool,
}
