//! The rows of a file of marks, before their results are looked up.

use refract_domain::ids::ResultId;
use refract_domain::key::QuestionKey;
use refract_domain::submission::reference::Ref;

/// A row that marks at least one question.
pub struct MarksRow {
    /// The line on which the row begins, from 1.
    pub line: u64,
    /// The result, or the results, that the row marks.
    pub named: NamedResult,
    /// The marks of the row, at most one cell for each question.
    pub cells: Vec<MarkCell>,
}

/// How a row of marks names its result or results.
pub enum NamedResult {
    /// The result with this id.
    Id(ResultId),
    /// Every answered result of the prism with this `ref`.
    Ref(Ref),
}

/// A row's correct outcome for one question.
pub struct MarkCell {
    /// The question.
    pub question: QuestionKey,
    /// An outcome's key or label, not yet checked.
    pub outcome: String,
}
