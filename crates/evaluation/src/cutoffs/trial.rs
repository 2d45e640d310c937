//! The quality of cutoffs of a Yes / No question: on held-out rows, and at every whole percent.

use crate::counting::PercentCutoffs;
use crate::cutoffs::choice::{ChosenPercents, WrongAnswerCosts};
use crate::cutoffs::folds::{Folds, PercentCounts};
use crate::measures::{Proportion, to_f64};

/// The quality of cutoffs on some rows: those of advised cutoffs are held out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CutoffMeasures {
    /// Share of rows marked yes among those answered yes.
    pub precision: Proportion,
    /// Share of rows answered yes among those marked yes.
    pub recall: Proportion,
    /// Share of rows answered yes or no among all rows.
    pub coverage: Proportion,
    /// Share of rows marked no among those answered no.
    pub no_precision: Proportion,
    /// Mean cost of an answered row; `None` for goals without costs.
    pub cost: Option<f64>,
}

impl CutoffMeasures {
    /// The quality of cutoffs on all of these rows.
    pub(crate) fn of(counts: &PercentCounts, cutoffs: ChosenPercents) -> Self {
        let mut measures = Self::default();
        measures.add(counts, cutoffs);
        measures
    }

    /// The quality of cutoffs by what they find: of the rows answered yes and no how many are marked
    /// so, of all `marks`, `marked_yes` of them yes.
    pub(crate) fn of_answers(yes: Proportion, no: Proportion, marked_yes: u64, marks: u64) -> Self {
        Self {
            precision: yes,
            recall: Proportion {
                count: yes.count,
                of: marked_yes,
            },
            coverage: Proportion {
                count: yes.of + no.of,
                of: marks,
            },
            no_precision: no,
            cost: None,
        }
    }

    /// The mean cost of an answered row; `None` when no row is answered.
    pub(crate) fn mean_cost(&self, costs: WrongAnswerCosts) -> Option<f64> {
        let wrong_yes = self.precision.others().count;
        let wrong_no = self.no_precision.others().count;
        let answered = self.coverage.count;
        let sum = costs.of(wrong_yes, wrong_no).filter(|_| answered > 0)?;
        Some(sum / to_f64(answered))
    }

    fn add(&mut self, counts: &PercentCounts, cutoffs: ChosenPercents) {
        let answered_yes = |percent| counts.from(percent);
        let answered_no = |percent| counts.below(percent).others();
        let yes = cutoffs
            .yes_from
            .map_or_else(Proportion::default, answered_yes);
        let no = cutoffs
            .no_below
            .map_or_else(Proportion::default, answered_no);
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

/// The quality of the cutoffs that `choose` selects on four folds, summed over the held-out folds.
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

/// Counts of the marked answers to a Yes / No question by whole percent, which give the exact
/// quality of all cutoffs at whole percents without reading an answer again.
#[derive(Clone, Debug)]
pub struct PercentMeasures {
    counts: PercentCounts,
}

impl PercentMeasures {
    pub(crate) fn of(folds: &Folds) -> Self {
        Self {
            counts: folds.all(),
        }
    }

    /// The quality of these cutoffs.
    pub fn at(&self, cutoffs: PercentCutoffs) -> CutoffMeasures {
        let chosen = ChosenPercents {
            no_below: Some(cutoffs.no_below().into()),
            yes_from: Some(cutoffs.yes_from().into()),
        };
        CutoffMeasures::of(&self.counts, chosen)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use refract_domain::answer::probability::{ONE, Probability};
    use refract_domain::lens::YesNoLabel;

    use super::*;
    use crate::measures::{Forecast, Proportion};

    proptest! {
        #[test]
        fn measures_at_a_percent_are_those_of_labelling_each_answer(
            rows in prop::collection::vec((0..=ONE, any::<bool>()), 0..60),
            no_below in 1_u8..100,
            band in 0_u8..100,
        ) {
            let cutoffs = PercentCutoffs::new(no_below, no_below.saturating_add(band).min(100));
            let cutoffs = cutoffs.unwrap();
            let forecasts = rows.iter().map(|(millionths, came_true)| Forecast {
                probability: Probability::from_millionths(*millionths).unwrap(),
                came_true: *came_true,
            });
            let forecasts: Vec<_> = forecasts.collect();
            let [mut precision, mut recall, mut no_precision] = [Proportion::default(); 3];
            for forecast in &forecasts {
                let label = cutoffs.cutoffs().label(forecast.probability);
                match label {
                    YesNoLabel::Yes => precision.add(forecast.came_true),
                    YesNoLabel::No => no_precision.add(!forecast.came_true),
                    YesNoLabel::Unsure => {}
                }
                if forecast.came_true {
                    recall.add(label == YesNoLabel::Yes);
                }
            }
            let folds = Folds::new(forecasts.into_iter().map(Some));
            let measures = PercentMeasures::of(&folds).at(cutoffs);
            prop_assert_eq!(
                (measures.precision, measures.recall, measures.no_precision),
                (precision, recall, no_precision)
            );
            prop_assert_eq!(measures.coverage.count, precision.of + no_precision.of);
        }
    }
}
