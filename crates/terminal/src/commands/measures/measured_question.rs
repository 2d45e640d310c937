//! A question with its measures, its version and its model.

use refract_domain::prism::VersionNumber;
use refract_domain::prism::question::Question;
use refract_evaluation::marked::answers::MarkedAnswers;
use refract_evaluation::measures::QuestionMeasures;
use refract_evaluation::report::Report;

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
        }
    }
}
