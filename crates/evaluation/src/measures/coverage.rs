//! Coverage: the share of rows that could be automated, and their accuracy.

use refract_domain::answer::probability::ONE;
use serde::Serialize;

use crate::cutoffs::folds::PercentCounts;
use crate::measures::count::to_f64;
use crate::measures::forecast::Forecast;

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
