//! What a search looks for.

use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_persistence::ResultFilter;

use super::text_words::TextWords;
use crate::results::column_value::{AnsweredOutcome, ColumnValue};

/// Which results are searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultSearch {
    /// Conditions on everything but answers, texts and marks.
    pub filter: ResultFilter,
    /// Values that columns of the lens must show, all of them.
    pub values: Vec<ColumnValue>,
    /// Outcomes that questions must be answered with, all of them.
    pub answers: Vec<AnsweredOutcome>,
    /// Words that the texts must have.
    pub words: Option<TextWords>,
    /// What the marks must be.
    pub marks: Option<MarkCondition>,
}

/// A condition on the marks of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkCondition {
    /// Results with at least one mark.
    Marked,
    /// Results without marks.
    Unmarked,
    /// Results on which this outcome of the question is marked.
    Outcome(QuestionKey, OutcomeKey),
}
