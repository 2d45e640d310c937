//! Targets for a share of rows, compared exactly.

use refract_domain::answer::probability::{ONE, Probability};

use crate::measures::proportion::Proportion;

/// Millionths in a percent.
const PERCENT: u32 = ONE / 100;

/// A required share of correct rows, in whole millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    millionths: u32,
}

impl Target {
    /// The share, rounded to the nearest millionth; `None` outside 0 to 1.
    pub(crate) fn new(share: f64) -> Option<Self> {
        let millionths = Probability::from_f64(share)?.millionths();
        Some(Self { millionths })
    }

    /// The share itself, then shares that are higher by whole percents, and finally 1.
    ///
    /// A threshold chosen as the lowest that reaches a target is optimistic: held-out rows do
    /// slightly worse. When they miss the goal, the next target is tried.
    pub(crate) fn raised(self) -> impl Iterator<Item = Self> {
        let next = |target: &Self| {
            (target.millionths < ONE).then(|| Self {
                millionths: (target.millionths + PERCENT).min(ONE),
            })
        };
        std::iter::successors(Some(self), next)
    }

    /// Whether the proportion is at least this share; never for a proportion of no rows.
    pub(crate) fn is_reached_by(self, proportion: Proportion) -> bool {
        let reached = u128::from(proportion.count) * u128::from(ONE);
        let wanted = u128::from(proportion.of) * u128::from(self.millionths);
        proportion.of > 0 && reached >= wanted
    }
}
