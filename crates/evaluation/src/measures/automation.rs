//! How confident an answer must be to go without a person, for a wanted accuracy.

use crate::cutoffs::folds::{Folds, PercentCounts};
use crate::cutoffs::target::Target;
use crate::measures::proportion::Proportion;

/// The smallest confidence at which a wanted accuracy holds on held-out rows.
///
/// The confidence for some rows and a target is the smallest whole percent at or above which there
/// are answers and their accuracy is at least the target. It is first chosen for the wanted
/// accuracy: on each four of five folds, and tried on the fifth. Where the accuracy over the tried
/// rows of all folds is below the wanted one, the target is raised by one percent, up to 1. The
/// first target with which the wanted accuracy holds is used to choose the confidence on all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutomationAdvice {
    /// The confidence, a whole percent from 0 to 1: the least probability of a predicted outcome.
    pub confidence: f64,
    /// What the confidence gives on all rows, those it was chosen on.
    pub all: Automation,
    /// What confidences that were chosen on other rows gave: expect this of new rows.
    pub held_out: Automation,
}

/// What is left to the model, and how often it is right there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Automation {
    /// Covered rows of all rows.
    pub coverage: Proportion,
    /// Right rows of the covered ones.
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

/// The advice for a wanted accuracy, 0 to 1; `None` where it holds at no confidence.
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

/// What confidences that are chosen on four folds for the target give on the fifth.
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
