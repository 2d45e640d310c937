//! The measures of a question as the JSON object of `evaluate --json`.

use refract_domain::prism::VersionNumber;
use refract_domain::probability::Probability;
use refract_evaluation::coverage::CoveragePoint;
use refract_evaluation::outcome_measures::{ConfusionCell, OutcomeMeasures};
use refract_evaluation::reliability::ReliabilityBin;
use refract_evaluation::scale_measures::ScaleMeasures;
use serde::Serialize;

use super::measured_question::MeasuredQuestion;

/// The object; what is not defined is null.
#[derive(Serialize)]
pub(super) struct MeasuresJson<'a> {
    question: &'a str,
    #[serde(rename = "type")]
    question_type: &'static str,
    version: Option<i32>,
    model: Option<&'a str>,
    marks: u64,
    answered: u64,
    accuracy: Option<f64>,
    accuracy_low: Option<f64>,
    accuracy_high: Option<f64>,
    brier: Option<f64>,
    log_loss: Option<f64>,
    ece: Option<f64>,
    outcomes: Vec<OutcomeJson<'a>>,
    macro_f1: Option<f64>,
    confusion: Vec<ConfusionJson<'a>>,
    reliability: Vec<ReliabilityJson>,
    coverage: Vec<CoverageJson>,
    #[serde(flatten)]
    scale: Option<ScaleJson>,
    macro_precision: Option<f64>,
    macro_recall: Option<f64>,
    coverage_area: Option<f64>,
}

#[derive(Serialize)]
struct OutcomeJson<'a> {
    key: &'a str,
    marked: u64,
    predicted: u64,
    precision: Option<f64>,
    recall: Option<f64>,
    f1: Option<f64>,
}

#[derive(Serialize)]
struct ConfusionJson<'a> {
    marked: &'a str,
    predicted: &'a str,
    count: u64,
}

#[derive(Serialize)]
struct ReliabilityJson {
    from: Probability,
    to: Probability,
    count: u64,
    mean_probability: f64,
    share_right: f64,
}

#[derive(Serialize)]
struct CoverageJson {
    confidence: f64,
    coverage: f64,
    accuracy: f64,
}

#[derive(Serialize)]
struct ScaleJson {
    mean_absolute_error: Option<f64>,
    within_one: Option<f64>,
    quadratic_kappa: Option<f64>,
}

impl<'a> MeasuresJson<'a> {
    /// The object of a question.
    pub(super) fn of(measured: &'a MeasuredQuestion) -> Self {
        let numbers = &measured.measures;
        let interval = numbers.accuracy.interval();
        Self {
            question: measured.question.key.as_str(),
            question_type: measured.question.question_type().name(),
            version: measured.version.map(VersionNumber::get),
            model: measured.model.as_deref(),
            marks: numbers.marks,
            answered: numbers.answered,
            accuracy: numbers.accuracy.value(),
            accuracy_low: interval.map(|interval| interval.low),
            accuracy_high: interval.map(|interval| interval.high),
            brier: numbers.brier,
            log_loss: numbers.log_loss,
            ece: numbers.ece,
            outcomes: numbers.outcomes.iter().map(OutcomeJson::of).collect(),
            macro_f1: numbers.macro_average.f1,
            confusion: numbers.confusion.iter().map(ConfusionJson::of).collect(),
            reliability: numbers
                .reliability
                .iter()
                .map(ReliabilityJson::of)
                .collect(),
            coverage: numbers
                .coverage
                .points
                .iter()
                .map(CoverageJson::of)
                .collect(),
            scale: numbers.scale.as_ref().map(ScaleJson::of),
            macro_precision: numbers.macro_average.precision,
            macro_recall: numbers.macro_average.recall,
            coverage_area: numbers.coverage.area,
        }
    }
}

impl<'a> OutcomeJson<'a> {
    fn of(outcome: &'a OutcomeMeasures) -> Self {
        Self {
            key: outcome.key.as_str(),
            marked: outcome.marked,
            predicted: outcome.predicted,
            precision: outcome.precision,
            recall: outcome.recall,
            f1: outcome.f1,
        }
    }
}

impl<'a> ConfusionJson<'a> {
    fn of(cell: &'a ConfusionCell) -> Self {
        Self {
            marked: cell.marked.as_str(),
            predicted: cell.predicted.as_str(),
            count: cell.count,
        }
    }
}

impl ReliabilityJson {
    fn of(bin: &ReliabilityBin) -> Self {
        Self {
            from: bin.from,
            to: bin.to,
            count: bin.count,
            mean_probability: bin.mean_probability,
            share_right: bin.share_right,
        }
    }
}

impl CoverageJson {
    fn of(point: &CoveragePoint) -> Self {
        Self {
            confidence: point.confidence,
            coverage: point.coverage,
            accuracy: point.accuracy,
        }
    }
}

impl ScaleJson {
    fn of(scale: &ScaleMeasures) -> Self {
        Self {
            mean_absolute_error: scale.mean_absolute_error,
            within_one: scale.within_one,
            quadratic_kappa: scale.quadratic_kappa,
        }
    }
}
