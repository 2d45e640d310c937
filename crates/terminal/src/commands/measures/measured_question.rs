//! A question with its measures, its version and its model.

use refract_domain::prism::VersionNumber;
use refract_domain::prism::question::Question;
use refract_evaluation::marked::answers::MarkedAnswers;
use refract_evaluation::measures::QuestionMeasures;
use refract_evaluation::measures::automation::AutomationAdvice;

/// The accuracies for which the least sufficient confidence is reported.
const WANTED: [f64; 3] = [0.90, 0.95, 0.99];

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
    /// For each wanted accuracy, the confidence that reaches it on held-out rows; `None` if none
    /// does.
    pub(crate) automation: Vec<(f64, Option<AutomationAdvice>)>,
}

impl MeasuredQuestion {
    /// Measures the marked answers of a question.
    pub(crate) fn new(
        question: Question,
        version: Option<VersionNumber>,
        model: Option<String>,
        marked: &MarkedAnswers,
    ) -> Self {
        let automation = WANTED.map(|wanted| (wanted, marked.coverage_for(wanted)));
        Self {
            question,
            version,
            model,
            measures: marked.measures(),
            automation: automation.into(),
        }
    }
}
