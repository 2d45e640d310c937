//! A question with its measures, its version and its model, and these as the JSON object of
//! `evaluate --json`.

use refract_domain::answer::probability::Probability;
use refract_domain::key::QuestionKey;
use refract_domain::prism::VersionNumber;
use refract_domain::prism::question::{Question, QuestionType};
use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::marked::answers::MarkedAnswers;
use refract_evaluation::measures::QuestionMeasures;
use refract_evaluation::measures::coverage::CoveragePoint;
use refract_evaluation::measures::outcome::{ConfusionCell, OutcomeMeasures};
use refract_evaluation::measures::reliability::{HistogramBar, ReliabilityBin};
use refract_evaluation::measures::scale::ScaleMeasures;
use refract_evaluation::report::Report;
use serde::Serialize;

/// A question with its measures, its version and its model.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredQuestion {
    /// The question as worded by the version that answered; by the newest if several did.
    pub(crate) question: Question,
    /// The version that answered; `None` if there are several.
    pub(crate) version: Option<VersionNumber>,
    /// The model that answered; `None` if there are several, or it is unknown.
    pub(crate) model: Option<String>,
    /// The measures over all marked answers.
    pub(crate) measures: QuestionMeasures,
    /// From which confidence on answers need no person.
    pub(crate) automation: Report<'static>,
    /// How many marks have which probability.
    pub(crate) histogram: Vec<HistogramBar>,
}

impl MeasuredQuestion {
    /// Measures the marked answers of a question.
    pub(crate) fn new(
        question: Question,
        version: Option<VersionNumber>,
        model: Option<String>,
        marked: &MarkedAnswers,
    ) -> Self {
        Self {
            question,
            version,
            model,
            measures: marked.measures(),
            automation: marked.automation(),
            histogram: marked.histogram(),
        }
    }
}

/// The object; undefined measures are null.
#[derive(Serialize)]
pub(super) struct MeasuresJson<'a> {
    question: &'a QuestionKey,
    #[serde(rename = "type")]
    question_type: QuestionType,
    version: Option<VersionNumber>,
    model: Option<&'a str>,
    marks: u64,
    answered: u64,
    accuracy: Option<f64>,
    accuracy_low: Option<f64>,
    accuracy_high: Option<f64>,
    brier: Option<f64>,
    log_loss: Option<f64>,
    ece: Option<f64>,
    outcomes: &'a [OutcomeMeasures],
    macro_f1: Option<f64>,
    confusion: &'a [ConfusionCell],
    reliability: &'a [ReliabilityBin],
    coverage: &'a [CoveragePoint],
    #[serde(flatten)]
    scale: Option<&'a ScaleMeasures>,
    macro_precision: Option<f64>,
    macro_recall: Option<f64>,
    coverage_area: Option<f64>,
    majority_accuracy: Option<f64>,
    auc: Option<f64>,
    log_loss_floor: Option<Probability>,
    #[serde(skip_serializing_if = "Option::is_none")]
    marks_from: Option<&'static str>,
}

impl<'a> MeasuresJson<'a> {
    /// The object of a question.
    pub(super) fn of(measured: &'a MeasuredQuestion, marks: Option<MarksFrom>) -> Self {
        let numbers = &measured.measures;
        let interval = numbers.accuracy.interval();
        Self {
            question: &measured.question.key,
            question_type: measured.question.question_type(),
            version: measured.version,
            model: measured.model.as_deref(),
            marks: numbers.marks,
            answered: numbers.answered,
            accuracy: numbers.accuracy.value(),
            accuracy_low: interval.map(|interval| interval.low),
            accuracy_high: interval.map(|interval| interval.high),
            brier: numbers.brier,
            log_loss: numbers.log_loss,
            ece: numbers.ece,
            outcomes: &numbers.outcomes,
            macro_f1: numbers.macro_average.f1,
            confusion: &numbers.confusion,
            reliability: &numbers.reliability,
            coverage: &numbers.coverage.points,
            scale: numbers.scale.as_ref(),
            macro_precision: numbers.macro_average.precision,
            macro_recall: numbers.macro_average.recall,
            coverage_area: numbers.coverage.area,
            majority_accuracy: numbers.majority.value(),
            auc: numbers.auc,
            log_loss_floor: numbers.log_loss_floor,
            marks_from: marks.map(MarksFrom::name),
        }
    }
}
