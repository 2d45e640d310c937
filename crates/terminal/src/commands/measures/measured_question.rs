//! A question with its measures, its version and its model, and these as the JSON object of
//! `evaluate --json`.

use refract_domain::prism::{Question, VersionNumber};
use refract_domain::result::mark::MarksFrom;
use refract_evaluation::marked::MarkedAnswers;
use refract_evaluation::measures::{CoveragePoint, HistogramBar, QuestionMeasures, ReliabilityBin};
use refract_evaluation::report::{Cell, Report, number, range};

use crate::output::{self, value};

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

/// Prints the object of a question; undefined measures are null. `marks` says which marks count;
/// `None` for the answers of a gold file.
pub(crate) fn print_json(
    measured: &MeasuredQuestion,
    marks: Option<MarksFrom>,
) -> anyhow::Result<()> {
    let numbers = &measured.measures;
    let interval = numbers.accuracy.interval();
    let means = &numbers.macro_average;
    let mut members = vec![
        ("question", value(&measured.question.key)),
        ("type", value(&measured.question.question_type())),
        ("version", value(&measured.version)),
        ("model", value(&measured.model)),
        ("marks", value(&numbers.marks)),
        ("answered", value(&numbers.answered)),
        ("accuracy", value(&numbers.accuracy.value())),
        ("accuracy_low", value(&interval.map(|it| it.low))),
        ("accuracy_high", value(&interval.map(|it| it.high))),
        ("brier", value(&numbers.brier)),
        ("log_loss", value(&numbers.log_loss)),
        ("ece", value(&numbers.ece)),
        ("outcomes", value(&numbers.outcomes)),
        ("macro_f1", value(&means.f1)),
        ("confusion", value(&numbers.confusion)),
        ("reliability", value(&numbers.reliability)),
        ("coverage", value(&numbers.coverage.points)),
    ];
    if let Some(scale) = &numbers.scale {
        members.extend([
            ("mean_absolute_error", value(&scale.mean_absolute_error)),
            ("within_one", value(&scale.within_one)),
            ("quadratic_kappa", value(&scale.quadratic_kappa)),
        ]);
    }
    members.extend([
        ("macro_precision", value(&means.precision)),
        ("macro_recall", value(&means.recall)),
        ("coverage_area", value(&numbers.coverage.area)),
        ("majority_accuracy", value(&numbers.majority.value())),
        ("auc", value(&numbers.auc)),
        ("log_loss_floor", value(&numbers.log_loss_floor)),
        ("floored_log_loss", value(&numbers.floored_log_loss)),
    ]);
    members.extend(marks.map(|marks| ("marks_from", value(&marks.name()))));
    output::object(&members)
}
