//! Cutoffs for a Yes / No question, chosen by marks and tried on held-out rows.

use refract_domain::lens::cutoffs::Cutoffs;

use crate::cutoffs::choice::{
    ChosenPercents, WrongAnswerCosts, least_costs, no_below, recalled_from, yes_from,
};
use crate::cutoffs::folds::{Folds, PercentCounts};
use crate::cutoffs::target::Target;
use crate::cutoffs::trial::{CutoffMeasures, tried};
use crate::measures::proportion::Proportion;

/// With fewer marks than this behind it, advice may be luck.
pub const FEW_MARKS: u64 = 30;

/// What cutoffs are wanted to achieve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutoffGoal {
    /// Each of the two answers is right at least so often, 0 to 1.
    ///
    /// `yes_from` is the smallest whole percent from which the share of marked yes reaches the
    /// target, and `no_below` the largest, at most `yes_from`, below which the share of marked no
    /// does.
    Precision(f64),
    /// At least this share of what is marked yes is answered yes, 0 to 1: one cutoff, the largest
    /// whole percent with which it is.
    Recall(f64),
    /// The costs of all wrong answers together are smallest: one cutoff, the smallest whole percent
    /// of those with the least costs.
    Costs {
        /// Cost of a yes that is marked no; at least 0.
        wrong_yes: f64,
        /// Cost of a no that is marked yes; at least 0.
        wrong_no: f64,
    },
}

/// Cutoffs for a goal, and what to expect of them.
///
/// A precision or recall is wanted of held-out rows: cutoffs are chosen on each four of five folds
/// and tried on the fifth. Where the wanted share does not hold over the tried rows of all folds,
/// the cutoffs are chosen for a target that is higher by one percent, up to 1. The first target
/// with which the wanted share holds is used to choose the cutoff on all rows. For a precision,
/// `yes_from` is found so first, and then `no_below` beside it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutoffAdvice {
    /// The percent below which the answer is no, 1 to 99; `None` where the goal is out of reach.
    pub no_below: Option<u32>,
    /// The percent from which the answer is yes, 1 to 100 and at least `no_below`; `None` where the
    /// goal is out of reach. Equal to `no_below`, it is one cutoff without unsure.
    pub yes_from: Option<u32>,
    /// All rows.
    pub marks: u64,
    /// Rows that are marked yes.
    pub marked_yes: u64,
    /// Rows that decide how far the advice can be believed, to be compared with [`FEW_MARKS`]: for a
    /// precision those at or above `yes_from`, for a recall those marked yes, for costs those of the
    /// rarer mark.
    pub behind: u64,
    /// What cutoffs that were chosen on other rows gave: expect this of new rows.
    pub held_out: CutoffMeasures,
}

/// The advice for a goal. A goal outside its range is out of reach.
pub(crate) fn advise(folds: &Folds, goal: CutoffGoal) -> CutoffAdvice {
    match goal {
        CutoffGoal::Precision(wanted) => for_precision(folds, wanted),
        CutoffGoal::Recall(wanted) => for_recall(folds, wanted),
        CutoffGoal::Costs {
            wrong_yes,
            wrong_no,
        } => {
            let costs = WrongAnswerCosts {
                yes: wrong_yes,
                no: wrong_no,
            };
            for_costs(folds, costs)
        }
    }
}

fn for_precision(folds: &Folds, wanted: f64) -> CutoffAdvice {
    let counts = folds.all();
    let yes_side = |counts: &PercentCounts, target| ChosenPercents {
        no_below: None,
        yes_from: yes_from(counts, target),
    };
    let of_yes = |tried: &CutoffMeasures| tried.precision;
    let yes_target = target_that_holds(folds, wanted, yes_side, of_yes);
    let yes_target = yes_target.filter(|target| yes_from(&counts, *target).is_some());

    let beside = |counts: &PercentCounts, no_target: Option<Target>| {
        let yes_from = yes_target.and_then(|target| yes_from(counts, target));
        let no_below = no_target.and_then(|target| no_below(counts, target, yes_from));
        ChosenPercents { no_below, yes_from }
    };
    let both_sides = |counts: &PercentCounts, target| beside(counts, Some(target));
    let of_no = |tried: &CutoffMeasures| tried.no_precision;
    let no_target = target_that_holds(folds, wanted, both_sides, of_no);
    let no_target = no_target.filter(|target| both_sides(&counts, *target).no_below.is_some());

    let cutoffs = beside(&counts, no_target);
    let yes_rows = cutoffs.yes_from.map(|percent| counts.from(percent).of);
    let held_out = tried(folds, |counts| beside(counts, no_target));
    CutoffAdvice::new(&counts, cutoffs, yes_rows.unwrap_or(0), held_out)
}

fn for_recall(folds: &Folds, wanted: f64) -> CutoffAdvice {
    let counts = folds.all();
    let choose =
        |counts: &PercentCounts, target| ChosenPercents::one(recalled_from(counts, target));
    let of_yes = |tried: &CutoffMeasures| tried.recall;
    let target = target_that_holds(folds, wanted, choose, of_yes);
    let target = target.filter(|target| recalled_from(&counts, *target).is_some());
    let chosen = |counts: &PercentCounts| {
        target.map_or_else(ChosenPercents::default, |target| choose(counts, target))
    };
    let held_out = tried(folds, chosen);
    let marked_yes = counts.from(0).count;
    CutoffAdvice::new(&counts, chosen(&counts), marked_yes, held_out)
}

fn for_costs(folds: &Folds, costs: WrongAnswerCosts) -> CutoffAdvice {
    let counts = folds.all();
    let choose = |counts: &PercentCounts| ChosenPercents::one(least_costs(counts, costs));
    let all = counts.from(0);
    let behind = all.count.min(all.of - all.count);
    let mut held_out = tried(folds, choose);
    held_out.cost = held_out.mean_cost(costs);
    CutoffAdvice::new(&counts, choose(&counts), behind, held_out)
}

/// The first target, from the wanted share upwards, with which the cutoffs that `choose` names give
/// the wanted share of held-out rows; `None` where none does and outside 0 to 1.
fn target_that_holds(
    folds: &Folds,
    wanted: f64,
    choose: impl Fn(&PercentCounts, Target) -> ChosenPercents,
    share: impl Fn(&CutoffMeasures) -> Proportion,
) -> Option<Target> {
    let wanted = Target::new(wanted)?;
    let holds = |target: &Target| {
        let tried = tried(folds, |counts| choose(counts, *target));
        wanted.is_reached_by(share(&tried))
    };
    wanted.raised().find(holds)
}

impl CutoffAdvice {
    /// Whether so few marks are behind the cutoffs that they may be luck.
    pub fn is_of_few_marks(&self) -> bool {
        self.behind < FEW_MARKS
    }

    /// The cutoffs for a lens that has these cutoffs now; `None` where the goal is out of reach.
    ///
    /// Where the advice has no `no_below`, `no` ends where it ends now, or where `yes` begins if that
    /// is lower.
    pub fn cutoffs(&self, now: Cutoffs) -> Option<Cutoffs> {
        let share = |percent| f64::from(percent) / 100.0;
        let yes_from = self.yes_from.map(share)?;
        let no_below = self.no_below.map(share);
        let no_below = no_below.unwrap_or_else(|| now.no_ends_at().value().min(yes_from));
        Cutoffs::new(Some(no_below), (yes_from > no_below).then_some(yes_from)).ok()
    }

    fn new(
        counts: &PercentCounts,
        cutoffs: ChosenPercents,
        behind: u64,
        held_out: CutoffMeasures,
    ) -> Self {
        Self {
            no_below: cutoffs.no_below,
            yes_from: cutoffs.yes_from,
            marks: counts.rows(),
            marked_yes: counts.from(0).count,
            behind,
            held_out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cutoffs_of_advice(
        no_below: Option<u32>,
        yes_from: Option<u32>,
        now: (Option<f64>, Option<f64>),
    ) -> Option<(Option<f64>, Option<f64>)> {
        let advice = CutoffAdvice {
            no_below,
            yes_from,
            marks: 100,
            marked_yes: 50,
            behind: 40,
            held_out: CutoffMeasures::default(),
        };
        let cutoffs = advice.cutoffs(Cutoffs::new(now.0, now.1).unwrap())?;
        let number = |cutoff: Option<refract_domain::lens::cutoffs::Cutoff>| Some(cutoff?.value());
        Some((number(cutoffs.no_below()), number(cutoffs.yes_from())))
    }

    #[test]
    fn the_advice_decides_and_the_lens_where_no_is_out_of_reach() {
        let none = (None, None);
        let narrow = (Some(0.4), Some(0.6));
        for (no_below, yes_from, now, expected) in [
            (Some(21), Some(62), narrow, Some((Some(0.21), Some(0.62)))),
            (Some(62), Some(62), narrow, Some((Some(0.62), None))),
            (Some(99), Some(100), narrow, Some((Some(0.99), Some(1.0)))),
            // no ends where it ends now, at 0.5 where the lens does not say it
            (None, Some(62), narrow, Some((Some(0.4), Some(0.62)))),
            (None, Some(62), none, Some((Some(0.5), Some(0.62)))),
            (None, Some(100), none, Some((Some(0.5), Some(1.0)))),
            // yes begins before no would end
            (None, Some(30), narrow, Some((Some(0.3), None))),
            (None, Some(40), narrow, Some((Some(0.4), None))),
            (Some(20), None, narrow, None),
        ] {
            let found = cutoffs_of_advice(no_below, yes_from, now);
            assert_eq!(found, expected, "{no_below:?} {yes_from:?} {now:?}");
        }
    }
}
