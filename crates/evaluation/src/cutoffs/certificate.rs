//! Certified cutoffs: what is answered automatically is wrong in at most a promised share, with a
//! promised probability over the drawing of the marks.

use crate::cutoffs::choice::ChosenPercents;
use crate::cutoffs::exact_binomial::upper_bound;
use crate::cutoffs::folds::{Folds, PercentCounts};
use crate::cutoffs::promise::{CertifiedCutoffs, CertifiedGoal};
use crate::cutoffs::spending::{
    AutomaticRegion, by_confidence, by_probability, more_marks, widest_certified,
};
use crate::cutoffs::trial::{CutoffMeasures, tried};
use crate::measures::Proportion;

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
