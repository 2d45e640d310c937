//! Coverage: the share of rows that could be automated, and their accuracy; and the confidence from
//! which answers can be automated, for a wanted accuracy.

use refract_domain::answer::probability::ONE;
use serde::Serialize;

use crate::cutoffs::{Folds, PercentCounts, Target};
use crate::measures::proportion::{Forecast, Proportion, to_f64};

/// Accuracy over coverage, when people decide the rows below a confidence threshold.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CoverageCurve {
    /// The points from the lowest confidence on, at each whole percent where the covered rows
    /// change.
    pub points: Vec<CoveragePoint>,
    /// Mean accuracy over all coverages up to the largest: the trapezoid area under accuracy over
    /// coverage, taken at every confidence that occurs, extended flat from the smallest coverage to
    /// 0, and divided by the largest coverage. `None` when nothing is answered; 1 when every answer
    /// is correct.
    pub area: Option<f64>,
}

/// Coverage and accuracy of the answers with at least a given confidence.
///
/// The confidence is Refract's own ([`confidence`](refract_domain::answer::confidence)), from the
/// probability of the predicted outcome alone: what a server calls its confidence is another measure
/// on each server. A Yes / No that its cutoffs label against its probability has confidence 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CoveragePoint {
    /// The confidence, a whole percent from 0 to 1.
    pub confidence: f64,
    /// Share of all rows with an answer of at least this confidence.
    pub coverage: f64,
    /// Share of correct rows among the covered ones.
    pub accuracy: f64,
}

/// The curve over the forecasts of the answered rows.
pub(crate) fn curve(counts: &PercentCounts, mut forecasts: Vec<Forecast>) -> CoverageCurve {
    let marks = to_f64(counts.rows());
    let mut points = Vec::new();
    let mut before = None;
    for percent in 0..=100 {
        let covered = counts.from(percent);
        if let Some(accuracy) = covered.value()
            && before != Some(covered.of)
        {
            points.push(CoveragePoint {
                confidence: f64::from(percent) / 100.0,
                coverage: to_f64(covered.of) / marks,
                accuracy,
            });
            before = Some(covered.of);
        }
    }
    forecasts.sort_unstable_by_key(|forecast| ONE - forecast.probability.millionths());
    CoverageCurve {
        points,
        area: area(&forecasts),
    }
}

/// The area under accuracy over the number of covered rows, divided by that number. The forecasts
/// are sorted by descending probability.
fn area(forecasts: &[Forecast]) -> Option<f64> {
    let mut covered = 0;
    let mut right = 0;
    let mut area = 0.0;
    let mut before: Option<(f64, f64)> = None;
    for tied in forecasts.chunk_by(|a, b| a.probability == b.probability) {
        for forecast in tied {
            covered += 1;
            right += u64::from(forecast.came_true);
        }
        let width = to_f64(covered);
        let accuracy = to_f64(right) / width;
        // the curve is flat from no coverage to the first point
        let (width_before, accuracy_before) = before.unwrap_or((0.0, accuracy));
        area += (width - width_before) * (accuracy + accuracy_before) / 2.0;
        before = Some((width, accuracy));
    }
    before.map(|(width, _)| area / width)
}

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
    /// [`CoveragePoint`].
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
