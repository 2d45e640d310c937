//! Certified cutoffs: what is answered automatically is wrong in at most a promised share, with a
//! promised probability over the drawing of the marks. And the quality of cutoffs, on held-out rows
//! and at every whole percent.

use crate::counting::PercentCutoffs;
use crate::cutoffs::choice::{ChosenPercents, Folds, PercentCounts, WrongAnswerCosts};
use crate::cutoffs::exact_binomial::upper_bound;
use crate::cutoffs::spending::{
    AutomaticRegion, CertifiedCutoffs, CertifiedGoal, by_confidence, by_probability, more_marks,
    widest_certified,
};
use crate::measures::{Proportion, to_f64};

/// Cutoffs whose error is certified.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CertifiedRegion {
    /// The cutoffs.
    pub cutoffs: CertifiedCutoffs,
    /// Wrong ones of the marked answers that are automatic at these cutoffs. For a Yes / No, yes and
    /// no are counted together: one of them alone may be wrong more often than promised.
    pub wrong: Proportion,
    /// The upper bound of the true share of wrong answers among the automatic ones, at most the
    /// goal's error. It holds with the goal's probability.
    pub error_at_most: f64,
}

/// The outcome of a search for certified cutoffs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Certification {
    /// These cutoffs keep the promise.
    Certified(CertifiedRegion),
    /// About this many more marks would certify cutoffs, if the shares of wrong answers stay as they
    /// are.
    MoreMarks(u64),
    /// The answers are wrong too often at every cutoff.
    OutOfReach,
}

/// Certified cutoffs for a goal, or why there are none.
///
/// The marks must be a random sample of the answers that the promise is about: marks of answers near
/// a cutoff certify nothing. The promise is for one search over marks whose number was decided before
/// they were seen; searching again after every few marks, until it succeeds, breaks it.
///
/// The module `spending` explains the search and why the promise holds.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Certificate {
    /// The goal.
    pub goal: CertifiedGoal,
    /// All marked answers.
    pub marks: u64,
    /// The outcome of the search.
    pub certification: Certification,
    /// The quality of cutoffs that are certified on four fifths of the marks, measured on the other
    /// fifth, five times. For a choice or scale, `precision` is the share of right answers.
    pub held_out: CutoffMeasures,
}

impl Certificate {
    /// The certified cutoffs; `None` if there are none.
    pub fn certified(&self) -> Option<CertifiedRegion> {
        match self.certification {
            Certification::Certified(region) => Some(region),
            Certification::MoreMarks(_) | Certification::OutOfReach => None,
        }
    }

    /// The share of all marked answers that is automatic at the certified cutoffs; of none without
    /// them.
    pub fn coverage(&self) -> Proportion {
        Proportion {
            count: self.certified().map_or(0, |region| region.wrong.of),
            of: self.marks,
        }
    }

    fn new(
        regions: &[AutomaticRegion],
        marks: u64,
        goal: CertifiedGoal,
        held_out: CutoffMeasures,
    ) -> Self {
        let certification = match certified(regions, goal) {
            Some(region) => Certification::Certified(region),
            None => more_marks(regions, marks, goal)
                .map_or(Certification::OutOfReach, Certification::MoreMarks),
        };
        Self {
            goal,
            marks,
            certification,
            held_out,
        }
    }
}

/// The widest of the regions that is certified, with its bound.
pub(crate) fn certified(
    regions: &[AutomaticRegion],
    goal: CertifiedGoal,
) -> Option<CertifiedRegion> {
    let passed = widest_certified(regions, goal)?;
    let AutomaticRegion { cutoffs, wrong, .. } = passed.region;
    Some(CertifiedRegion {
        cutoffs,
        wrong,
        error_at_most: upper_bound(wrong.count, wrong.of, passed.level),
    })
}

/// Certifies cutoffs of a Yes / No question. The folds have those marked yes by the probability of
/// yes.
pub(crate) fn of_yes_no(folds: &Folds, goal: CertifiedGoal) -> Certificate {
    let choose = |counts: &PercentCounts| {
        let passed = widest_certified(&by_probability(counts), goal);
        match passed.map(|passed| passed.region.cutoffs) {
            Some(CertifiedCutoffs::YesNo { no_below, yes_from }) => ChosenPercents {
                no_below: Some(no_below),
                yes_from: Some(yes_from),
            },
            Some(CertifiedCutoffs::Confidence(_)) | None => ChosenPercents::default(),
        }
    };
    let counts = folds.all();
    let held_out = tried(folds, choose);
    Certificate::new(&by_probability(&counts), counts.rows(), goal, held_out)
}

/// Certifies a confidence. The folds have the right answers by confidence.
pub(crate) fn of_confidence(folds: &Folds, goal: CertifiedGoal) -> Certificate {
    let mut held_out = CutoffMeasures::default();
    for held in folds.held_out() {
        let passed = widest_certified(&by_confidence(&held.others), goal);
        if let Some(passed) = passed
            && let CertifiedCutoffs::Confidence(percent) = passed.region.cutoffs
        {
            held_out.precision += held.fold.from(percent);
            held_out.coverage.count += held.fold.from(percent).of;
        }
        held_out.coverage.of += held.fold.rows();
    }
    let counts = folds.all();
    Certificate::new(&by_confidence(&counts), counts.rows(), goal, held_out)
}

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
