//! Trying cutoffs of a Yes / No question on rows that did not choose them.

use crate::cutoffs::choice::{ChosenPercents, WrongAnswerCosts};
use crate::cutoffs::folds::{Folds, PercentCounts};
use crate::measures::count::to_f64;
use crate::measures::proportion::Proportion;

/// What cutoffs gave on rows that did not choose them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CutoffMeasures {
    /// Rows marked yes of those answered yes.
    pub precision: Proportion,
    /// Rows answered yes of those marked yes.
    pub recall: Proportion,
    /// Rows answered yes or no of all rows.
    pub coverage: Proportion,
    /// Rows marked no of those answered no.
    pub no_precision: Proportion,
    /// Mean cost of an answered row, where the goal has costs.
    pub cost: Option<f64>,
}

impl CutoffMeasures {
    /// The mean cost of an answered row; `None` where none is answered.
    pub(crate) fn mean_cost(&self, costs: WrongAnswerCosts) -> Option<f64> {
        let wrong_yes = self.precision.others().count;
        let wrong_no = self.no_precision.others().count;
        let answered = self.coverage.count;
        let sum = costs.of(wrong_yes, wrong_no).filter(|_| answered > 0)?;
        Some(sum / to_f64(answered))
    }

    fn add(&mut self, counts: &PercentCounts, cutoffs: ChosenPercents) {
        let said_yes = |percent| counts.from(percent);
        let said_no = |percent| counts.below(percent).others();
        let yes = cutoffs.yes_from.map_or_else(Proportion::default, said_yes);
        let no = cutoffs.no_below.map_or_else(Proportion::default, said_no);
        self.precision += yes;
        self.no_precision += no;
        self.recall += Proportion {
            count: yes.count,
            ..counts.recall_from(0)
        };
        self.coverage += Proportion {
            count: yes.of + no.of,
            of: counts.rows(),
        };
    }
}

/// What cutoffs give on each fold that `choose` names from the other folds.
pub(crate) fn tried(
    folds: &Folds,
    choose: impl Fn(&PercentCounts) -> ChosenPercents,
) -> CutoffMeasures {
    let mut measures = CutoffMeasures::default();
    for held_out in folds.held_out() {
        measures.add(held_out.fold, choose(&held_out.others));
    }
    measures
}
