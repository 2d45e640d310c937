//! The confidence above which answers can be automated, for a wanted accuracy.

use crate::cutoffs::folds::{Folds, PercentCounts};
use crate::cutoffs::target::Target;
use crate::measures::proportion::Proportion;

/// The smallest confidence that reaches a wanted accuracy on held-out rows.
///
/// For given rows and a target, the confidence is the smallest whole percent at or above which
/// there are answers with at least the target accuracy. The target is first the wanted accuracy.
/// The confidence is chosen on four of five folds and validated on the fifth, for each fold. If all
/// folds together miss the wanted accuracy, the target is raised by one percent, up to 1, and the
/// choice repeated. The first target that reaches it is then used to choose the confidence on all
/// rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct AutomationAdvice {
    /// The least confidence, a whole percent from 0 to 1, as in
    /// [`CoveragePoint`](crate::measures::coverage::CoveragePoint).
    pub confidence: f64,
    /// The coverage and accuracy on all rows, on which the confidence was chosen.
    pub all: Automation,
    /// The coverage and accuracy on held-out rows: expect this of new rows.
    pub held_out: Automation,
}

/// The share of automated rows, and their accuracy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Automation {
    /// Covered rows among all rows.
    pub coverage: Proportion,
    /// Correct rows among the covered ones.
    pub accuracy: Proportion,
}

impl Automation {
    fn add(&mut self, counts: &PercentCounts, percent: Option<u32>) {
        let covered = percent.map_or_else(Proportion::default, |percent| counts.from(percent));
        self.accuracy += covered;
        self.coverage += Proportion {
            count: covered.of,
            of: counts.rows(),
        };
    }
}

/// The advice for a wanted accuracy, 0 to 1; `None` when no confidence reaches it.
pub(crate) fn advise(folds: &Folds, wanted: f64) -> Option<AutomationAdvice> {
    let wanted = Target::new(wanted)?;
    let (target, held_out) = wanted
        .raised()
        .map(|target| (target, held_out(folds, target)))
        .find(|(_, held_out)| wanted.is_reached_by(held_out.accuracy))?;
    let counts = folds.all();
    let percent = choose(&counts, target)?;
    let mut all = Automation::default();
    all.add(&counts, Some(percent));
    Some(AutomationAdvice {
        confidence: f64::from(percent) / 100.0,
        all,
        held_out,
    })
}

/// The coverage and accuracy of confidences chosen on four folds for the target, summed over the
/// held-out folds.
fn held_out(folds: &Folds, target: Target) -> Automation {
    let mut held_out = Automation::default();
    for held in folds.held_out() {
        held_out.add(held.fold, choose(&held.others, target));
    }
    held_out
}

/// The smallest whole percent from which the accuracy reaches the target.
fn choose(counts: &PercentCounts, target: Target) -> Option<u32> {
    (0..=100).find(|percent| target.is_reached_by(counts.from(*percent)))
}
