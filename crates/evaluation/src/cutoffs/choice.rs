//! Choosing the cutoffs of a Yes / No question on some rows.

use crate::cutoffs::folds::PercentCounts;
use crate::cutoffs::target::Target;
use crate::measures::count::to_f64;

/// The costs of a wrong yes and of a wrong no.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrongAnswerCosts {
    /// Cost of a yes that is marked no.
    pub(crate) yes: f64,
    /// Cost of a no that is marked yes.
    pub(crate) no: f64,
}

/// Cutoffs in whole percents that were chosen on some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChosenPercents {
    /// The answer is no below this percent; `None` if it is never no.
    pub(crate) no_below: Option<u32>,
    /// The answer is yes from this percent on; `None` if it is never yes.
    pub(crate) yes_from: Option<u32>,
}

impl ChosenPercents {
    /// One cutoff for both yes and no, without `unsure`.
    pub(crate) fn one(percent: Option<u32>) -> Self {
        Self {
            no_below: percent,
            yes_from: percent,
        }
    }
}

impl WrongAnswerCosts {
    /// The cost of these wrong answers; `None` when a cost is negative or not finite.
    pub(crate) fn of(self, wrong_yes: u64, wrong_no: u64) -> Option<f64> {
        let is_cost = |cost: f64| cost >= 0.0 && cost.is_finite();
        (is_cost(self.yes) && is_cost(self.no))
            .then(|| self.yes * to_f64(wrong_yes) + self.no * to_f64(wrong_no))
    }
}

/// The smallest whole percent from which the share of marked yes reaches the target.
pub(crate) fn yes_from(counts: &PercentCounts, target: Target) -> Option<u32> {
    (1..=100).find(|percent| target.is_reached_by(counts.from(*percent)))
}

/// The largest whole percent, at most `yes_from`, below which the share of marked no reaches the
/// target.
pub(crate) fn no_below(
    counts: &PercentCounts,
    target: Target,
    yes_from: Option<u32>,
) -> Option<u32> {
    let highest = yes_from.unwrap_or(99).min(99);
    (1..=highest)
        .rev()
        .find(|percent| target.is_reached_by(counts.below(*percent).others()))
}

/// The largest whole percent at which the recall of yes reaches the target.
pub(crate) fn recalled_from(counts: &PercentCounts, target: Target) -> Option<u32> {
    (1..=99)
        .rev()
        .find(|percent| target.is_reached_by(counts.recall_from(*percent)))
}

/// The smallest of the whole percents with the least cost, as one cutoff; `None` without rows, and
/// when a cost is negative or not finite.
pub(crate) fn least_costs(counts: &PercentCounts, costs: WrongAnswerCosts) -> Option<u32> {
    if counts.rows() == 0 {
        return None;
    }
    let mut least: Option<(u32, f64)> = None;
    for percent in 1..=99 {
        let wrong_yes = counts.from(percent).others().count;
        let wrong_no = counts.below(percent).count;
        let cost = costs.of(wrong_yes, wrong_no)?;
        if least.is_none_or(|(_, least)| cost < least) {
            least = Some((percent, cost));
        }
    }
    least.map(|(percent, _)| percent)
}
