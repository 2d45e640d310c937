//! Advised cutoffs of a Yes / No question, chosen by marks and validated on held-out rows.

use refract_domain::lens::Cutoffs;

use crate::cutoffs::certificate::{CutoffMeasures, tried};
use crate::cutoffs::choice::{
    ChosenPercents, Folds, PercentCounts, Target, WrongAnswerCosts, dominates, least_costs,
    no_below, no_gap, recalled_from, yes_from, yes_gap,
};
use crate::measures::Proportion;

/// Advice that rests on fewer marks than this may be chance.
pub const FEW_MARKS: u64 = 30;

/// The goal of advised cutoffs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CutoffGoal {
    /// Minimum precision of both answers, 0 to 1.
    ///
    /// `yes_from` is the whole percent with the greatest recall, then the greatest precision, from
    /// which the share of marked yes reaches the target; `no_below` likewise, at most `yes_from`.
    Precision(f64),
    /// Minimum precision of yes, 0 to 1: one cutoff, the whole percent with the greatest recall, then
    /// the greatest precision, that reaches it.
    YesPrecision(f64),
    /// Minimum recall of yes, 0 to 1: one cutoff, the whole percent with the greatest precision, then
    /// the greatest recall, that reaches it.
    Recall(f64),
    /// Minimum total cost of wrong answers: one cutoff, the whole percent with the least cost, then
    /// the fewest wrong answers.
    Costs {
        /// Cost of a yes that is marked no; at least 0.
        wrong_yes: f64,
        /// Cost of a no that is marked yes; at least 0.
        wrong_no: f64,
    },
}

/// Cutoffs for a goal, and their expected quality.
///
/// No whole percent that reaches the goal, and not the cutoff in force, has at least the precision
/// and at least the recall of an advised cutoff on the same marks with one of them greater. Of the
/// percents of a gap, between which no forecast lies, the middle is advised.
///
/// A precision or recall is required on held-out rows: cutoffs are chosen on four of five folds and
/// validated on the fifth, for each fold. If all folds together miss the goal, the target is raised
/// by one percent, up to 1, and the choice repeated. The first target that reaches the goal on
/// held-out rows is then used to choose the cutoff on all rows. For a precision, `yes_from` is
/// chosen first in this way, then `no_below`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CutoffAdvice {
    /// The probability below which the answer is no; `None` when the goal is out of reach. A whole
    /// percent from 0.01 to 0.99, or the cutoff in force where that is better.
    pub no_below: Option<f64>,
    /// The probability from which the answer is yes, at least `no_below`; `None` when the goal is out
    /// of reach. A whole percent from 0.01 to 1, or the cutoff in force where that is better. If it
    /// equals `no_below`, there is no `unsure`.
    pub yes_from: Option<f64>,
    /// The lowest and the highest whole percent from which yes finds the same rows, as probabilities;
    /// `None` where they are one.
    pub yes_gap: Option<(f64, f64)>,
    /// The lowest and the highest whole percent below which no finds the same rows, like `yes_gap`.
    pub no_gap: Option<(f64, f64)>,
    /// All rows.
    pub marks: u64,
    /// Rows that are marked yes.
    pub marked_yes: u64,
    /// The number of rows that the advice rests on, to be compared with [`FEW_MARKS`]: for a
    /// precision the rows at or above `yes_from`, for a recall those marked yes, for costs those
    /// with the rarer mark.
    pub behind: u64,
    /// The quality of cutoffs on rows they were not chosen on: expect this of new rows.
    pub held_out: CutoffMeasures,
}

/// The cutoffs in force and what they find on the same rows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CutoffsInForce {
    pub(crate) cutoffs: Cutoffs,
    /// How many of the rows answered yes are marked yes, and of those answered no are marked no.
    pub(crate) yes: Proportion,
    pub(crate) no: Proportion,
}

/// The advice for a goal. A goal outside its range counts as out of reach, and so does every goal
/// without marks of both answers: they do not show where one ends and the other begins.
pub(crate) fn advise(folds: &Folds, goal: CutoffGoal, now: CutoffsInForce) -> CutoffAdvice {
    let counts = folds.all();
    let all = counts.from(0);
    if all.count == 0 || all.count == all.of {
        let none = ChosenPercents::default();
        return CutoffAdvice::new(&counts, none, 0, tried(folds, |_| none));
    }
    match goal {
        CutoffGoal::Precision(wanted) => for_precision(folds, wanted, now),
        CutoffGoal::YesPrecision(wanted) => {
            let choose = |counts: &PercentCounts, target| {
                // 100 % would leave nothing to be no from
                yes_from(counts, target).filter(|percent| *percent < 100)
            };
            let behind = |found: Option<Proportion>| found.map_or(0, |found| found.of);
            for_yes(folds, wanted, now, choose, |tried| tried.precision, behind)
        }
        CutoffGoal::Recall(wanted) => {
            let behind = |_| all.count;
            for_yes(
                folds,
                wanted,
                now,
                recalled_from,
                |tried| tried.recall,
                behind,
            )
        }
        CutoffGoal::Costs {
            wrong_yes,
            wrong_no,
        } => {
            let costs = WrongAnswerCosts {
                yes: wrong_yes,
                no: wrong_no,
            };
            for_costs(folds, costs, now)
        }
    }
}

fn for_precision(folds: &Folds, wanted: f64, now: CutoffsInForce) -> CutoffAdvice {
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
    let mut advice = CutoffAdvice::new(&counts, cutoffs, yes_rows.unwrap_or(0), held_out);
    if let Some(percent) = cutoffs.yes_from
        && dominates(now.yes, counts.from(percent))
    {
        advice.keep_yes(now);
        let highest = Some(whole_percent(now.yes_from()));
        let beside = no_target.and_then(|target| no_below(&counts, target, highest));
        advice.set_no(&counts, beside);
    }
    if let Some(found) = advice
        .no_below
        .map(|share| counts.below(whole_percent(share)))
        && dominates(now.no, found.others())
        && advice
            .yes_from
            .is_none_or(|yes_from| now.no_below() <= yes_from)
    {
        advice.no_below = Some(now.no_below());
        advice.no_gap = None;
    }
    advice
}

/// One cutoff, for a share that only yes has. `behind` counts the rows that it rests on, by what it
/// finds.
fn for_yes(
    folds: &Folds,
    wanted: f64,
    now: CutoffsInForce,
    choose: impl Fn(&PercentCounts, Target) -> Option<u32>,
    share: impl Fn(&CutoffMeasures) -> Proportion,
    behind: impl Fn(Option<Proportion>) -> u64,
) -> CutoffAdvice {
    let counts = folds.all();
    let one = |counts: &PercentCounts, target| ChosenPercents::one(choose(counts, target));
    let target = target_that_holds(folds, wanted, one, share);
    let chosen = |counts: &PercentCounts| {
        target.map_or_else(ChosenPercents::default, |target| one(counts, target))
    };
    let cutoffs = chosen(&counts);
    let found = cutoffs.yes_from.map(|percent| counts.from(percent));
    let held_out = tried(folds, chosen);
    let mut advice = CutoffAdvice::new(&counts, cutoffs, behind(found), held_out);
    if found.is_some_and(|found| dominates(now.yes, found)) {
        advice.keep_as_one(now);
    }
    advice
}

fn for_costs(folds: &Folds, costs: WrongAnswerCosts, now: CutoffsInForce) -> CutoffAdvice {
    let counts = folds.all();
    let choose = |counts: &PercentCounts| ChosenPercents::one(least_costs(counts, costs));
    let all = counts.from(0);
    let behind = all.count.min(all.of - all.count);
    let mut held_out = tried(folds, choose);
    held_out.cost = held_out.mean_cost(costs);
    let cutoffs = choose(&counts);
    let mut advice = CutoffAdvice::new(&counts, cutoffs, behind, held_out);
    let cost = |yes: Proportion| costs.of(yes.others().count, all.count - yes.count);
    if let Some(percent) = cutoffs.yes_from
        && cost(now.yes) < cost(counts.from(percent))
    {
        advice.keep_as_one(now);
    }
    advice
}

impl CutoffsInForce {
    fn no_below(&self) -> f64 {
        self.cutoffs.no_ends_at().value()
    }

    fn yes_from(&self) -> f64 {
        self.cutoffs.yes_begins_at().value()
    }
}

/// The lowest target, from the goal upwards, with which the cutoffs that `choose` selects reach the
/// goal on held-out rows; `None` when there is no such target, or when the goal is outside 0 to 1.
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
    /// Whether there are marks of yes and marks of no.
    pub fn has_both_marks(&self) -> bool {
        self.marked_yes > 0 && self.marked_yes < self.marks
    }

    /// Whether the cutoffs rest on fewer than [`FEW_MARKS`] rows and may be chance.
    pub fn is_of_few_marks(&self) -> bool {
        self.behind < FEW_MARKS
    }

    /// The cutoffs for a lens with the current cutoffs `now`; `None` when the goal is out of reach.
    ///
    /// If the advice has no `no_below`, it stays at its current value, or moves down to the advised
    /// `yes_from` if that is lower.
    pub fn cutoffs(&self, now: Cutoffs) -> Option<Cutoffs> {
        let yes_from = self.yes_from?;
        let stays = || now.no_ends_at().value().min(yes_from);
        let no_below = self.no_below.unwrap_or_else(stays);
        Cutoffs::new(Some(no_below), (yes_from > no_below).then_some(yes_from)).ok()
    }

    fn new(
        counts: &PercentCounts,
        cutoffs: ChosenPercents,
        behind: u64,
        held_out: CutoffMeasures,
    ) -> Self {
        let gap = cutoffs.yes_from.map(|percent| yes_gap(counts, percent));
        let mut advice = Self {
            no_below: None,
            yes_from: cutoffs.yes_from.map(share),
            yes_gap: gap.and_then(ends),
            no_gap: None,
            marks: counts.rows(),
            marked_yes: counts.from(0).count,
            behind,
            held_out,
        };
        advice.set_no(counts, cutoffs.no_below);
        advice
    }

    fn set_no(&mut self, counts: &PercentCounts, no_below: Option<u32>) {
        self.no_below = no_below.map(share);
        let gap = no_below.map(|percent| no_gap(counts, percent));
        self.no_gap = gap.and_then(ends);
    }

    fn keep_yes(&mut self, now: CutoffsInForce) {
        self.yes_from = Some(now.yes_from());
        self.yes_gap = None;
    }

    /// Advises the `yes_from` in force as the one cutoff.
    fn keep_as_one(&mut self, now: CutoffsInForce) {
        self.keep_yes(now);
        self.no_below = self.yes_from;
        self.no_gap = None;
    }
}

/// A whole percent as a probability.
fn share(percent: u32) -> f64 {
    f64::from(percent) / 100.0
}

/// The whole percent of a probability, rounded down.
fn whole_percent(share: f64) -> u32 {
    (0..=100)
        .rev()
        .find(|percent| self::share(*percent) <= share)
        .unwrap_or(0)
}

/// The lowest and the highest of the percents of a gap; `None` for one alone.
fn ends(mut gap: impl Iterator<Item = u32>) -> Option<(f64, f64)> {
    let first = gap.next()?;
    Some((share(first), share(gap.last()?)))
}

#[cfg(test)]
mod tests {
    use refract_domain::lens::Cutoff;

    use super::*;

    fn cutoffs_of_advice(
        no_below: Option<f64>,
        yes_from: Option<f64>,
        now: (Option<f64>, Option<f64>),
    ) -> Option<(Option<f64>, Option<f64>)> {
        let advice = CutoffAdvice {
            no_below,
            yes_from,
            yes_gap: None,
            no_gap: None,
            marks: 100,
            marked_yes: 50,
            behind: 40,
            held_out: CutoffMeasures::default(),
        };
        let cutoffs = advice.cutoffs(Cutoffs::new(now.0, now.1).unwrap())?;
        let number = |cutoff: Option<Cutoff>| Some(cutoff?.value());
        Some((number(cutoffs.no_below()), number(cutoffs.yes_from())))
    }

    #[test]
    fn the_advice_decides_and_the_lens_where_no_is_out_of_reach() {
        let none = (None, None);
        let narrow = (Some(0.4), Some(0.6));
        for (no_below, yes_from, now, expected) in [
            (
                Some(0.21),
                Some(0.62),
                narrow,
                Some((Some(0.21), Some(0.62))),
            ),
            (Some(0.62), Some(0.62), narrow, Some((Some(0.62), None))),
            (Some(0.99), Some(1.0), narrow, Some((Some(0.99), Some(1.0)))),
            // `no_below` stays as it is, at 0.5 if the lens does not state it
            (None, Some(0.62), narrow, Some((Some(0.4), Some(0.62)))),
            (None, Some(0.62), none, Some((Some(0.5), Some(0.62)))),
            (None, Some(1.0), none, Some((Some(0.5), Some(1.0)))),
            // the advised `yes_from` is below the current `no_below`
            (None, Some(0.3), narrow, Some((Some(0.3), None))),
            (None, Some(0.4), narrow, Some((Some(0.4), None))),
            (Some(0.2), None, narrow, None),
        ] {
            let found = cutoffs_of_advice(no_below, yes_from, now);
            assert_eq!(found, expected, "{no_below:?} {yes_from:?} {now:?}");
        }
    }
}
