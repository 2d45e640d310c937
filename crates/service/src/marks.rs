//! Marks: the correct outcomes of saved results, as judged by people. They are imported from the
//! rows of a file and exported as rows.
//!
//! An import checks every row before anything is saved: [`Marks::check`] returns either marks that
//! are ready to be saved, or every fault. Its memory grows with the marks of the file, not with the
//! results of the prism.

mod annotators;
mod check;
mod export;
mod review;
mod stated_outcomes;

use refract_boxed_futures::boxed;
use std::collections::BTreeMap;

use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::{ColumnName, QuestionKey};
use refract_domain::lens::Value;
use refract_domain::prism::VersionNumber;
use refract_domain::problem::ValidationError;
use refract_domain::result::ResultView;
use refract_domain::result::mark::{self, Annotator, Mark, MarkNote, MarkSource};
use refract_domain::submission::Ref;

pub use self::annotators::{Annotators, MarksOfAnnotator};
pub use self::check::{CheckedMarks, MarkChange, MarksError};
pub use self::review::{
    Judgement, JudgementInput, NextToReview, QueueKind, REVIEWED_NEWEST, ReviewFrom, ReviewItem,
    ReviewQueue, ReviewStep, Sitting, Standing,
};
pub use refract_persistence::LastMark;

use crate::lenses::prism_lens::PrismLens;
use crate::measures::evaluation;
use crate::{InternalError, Refract};

/// What a fault calls the cell that names who marked.
const PERSON: &str = "person";
/// Most faults that are kept for listing.
const MOST_LISTED: usize = 100;

/// The use cases of marks, from [`Refract::marks`](crate::Refract::marks).
#[derive(Clone, Copy)]
pub struct Marks<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// Marks: the correct outcomes of saved results, as people state them.
    pub fn marks(&self) -> Marks<'_> {
        Marks { refract: self }
    }
}

/// Where marks come from: who made them, of which results, and why.
#[derive(Clone, Debug, Default)]
pub struct MarkOrigin {
    /// Who marks, where a row names nobody.
    pub marked_by: Annotator,
    /// How the results came to be marked; `None` for a result that the person chose.
    pub source: Option<MarkSource>,
    /// What the person notes.
    pub note: Option<MarkNote>,
    /// Whether the marks settle disagreements between people.
    pub is_adjudicated: bool,
}

/// A row that marks at least one question.
pub struct MarksRow {
    /// The line on which the row begins, from 1.
    pub line: u64,
    /// The result, or the results, that the row marks.
    pub named: NamedResult,
    /// Who marked: the id, address or name of a person; `None` for who imports.
    pub person: Option<String>,
    /// Whether the person settled disagreements with these marks.
    pub is_adjudicated: bool,
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

#[boxed]
impl Marks<'_> {
    /// The questions of all versions of a prism: those of the latest version in its order, then
    /// those that only older versions have, newest version first.
    ///
    /// # Errors
    /// When the database fails, or the prism does not exist.
    pub async fn questions(self, prism: PrismId) -> Result<Vec<QuestionKey>, InternalError> {
        let history = self.refract.database.prism_history(prism).await?;
        let history = history.ok_or(InternalError::VersionMissing)?;
        let questions = evaluation::questions(&history.versions).into_iter();
        Ok(questions.map(|question| question.key.clone()).collect())
    }
}

/// The columns of marks that an export adds after those of the lens: one for each question of the
/// prism's latest version, in its order, named after the question's key with the suffix `_marked`.
/// There are none by default.
#[derive(Default)]
pub struct MarkedColumns {
    questions: Vec<QuestionKey>,
    names: Vec<ColumnName>,
}

/// A column of marks would have the name of a field or of a column of the lens.
#[derive(Debug, thiserror::Error)]
#[error(
    "a field or a column of the lens is called {0} already, as a column of marks would be: give the \
     column another name"
)]
pub struct MarkedNameTaken(ColumnName);

impl MarkedColumns {
    /// The columns of marks for a prism.
    ///
    /// # Errors
    /// When a field or a column of the lens already has the name of a column of marks.
    pub fn of(lens: &PrismLens) -> Result<Self, MarkedNameTaken> {
        let columns = lens.columns();
        let mut marked = Self::default();
        for question in lens.latest.questions() {
            let Some(name) = mark::column_name(&question.key) else {
                continue;
            };
            let mut fields = columns.fields.iter();
            if fields.any(|field| field.key.as_str() == name.as_str())
                || columns.lens.iter().any(|column| column.name == name)
            {
                return Err(MarkedNameTaken(name));
            }
            marked.questions.push(question.key.clone());
            marked.names.push(name);
        }
        Ok(marked)
    }

    /// The names of the columns.
    pub fn names(&self) -> &[ColumnName] {
        &self.names
    }

    /// The values of the columns for a result with these marks.
    pub(crate) fn values<'a>(
        &self,
        result: &ResultView<'a>,
        marks: &[Mark],
    ) -> impl Iterator<Item = Value<'a>> {
        let questions = result.questions;
        self.questions.iter().map(move |key| {
            let mark = marks.iter().find(|mark| mark.question == *key);
            let question = questions.iter().find(|question| question.key == *key);
            match (question, mark) {
                (Some(question), Some(mark)) => mark::value(question, &mark.outcome),
                (None, _) | (_, None) => Value::Null,
            }
        })
    }
}

/// Why a row cannot be saved as marks. The text repeats no value of the file except an outcome's
/// name, cut short and without control characters.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MarkError {
    /// A cell cannot be read.
    #[error("{column}: {reason}")]
    Cell {
        /// The column's name.
        column: String,
        /// What is wrong with the cell, without repeating its content.
        reason: String,
    },
    /// Neither an id nor a `ref` names a result.
    #[error("neither result_id nor ref names a result")]
    NoResult,
    /// The account's prism has no result with the id.
    #[error("result_id: the prism has no such result")]
    UnknownResult,
    /// The result with the id has no answers.
    #[error("result_id: the result is failed: it has no answers to mark")]
    FailedResult,
    /// The `ref` names no result, or only failed ones.
    #[error("ref: the prism has no answered result with this ref")]
    UnknownRef,
    /// The version that answered lacks the question.
    #[error("{question}: version {version}, which answered, has no such question")]
    NoQuestion {
        /// The question.
        question: QuestionKey,
        /// The version that answered the result.
        version: VersionNumber,
    },
    /// The question has no such outcome in the version that answered.
    #[error("{question}: '{name}' is no outcome in version {version}, which has {outcomes}")]
    NoOutcome {
        /// The question.
        question: QuestionKey,
        /// The name in the cell, cut short and without control characters.
        name: String,
        /// The version that answered the result.
        version: VersionNumber,
        /// The keys of the outcomes, as a readable list.
        outcomes: String,
    },
    /// Two rows of one person mark different outcomes.
    #[error("{question}: line {earlier} says another outcome of the same result")]
    Contradiction {
        /// The question.
        question: QuestionKey,
        /// The line of the other row, which comes earlier.
        earlier: u64,
    },
}

impl MarkError {
    /// The fault of a cell that names a person.
    fn person(errors: &[ValidationError]) -> Self {
        let errors: Vec<_> = errors.iter().map(ValidationError::to_string).collect();
        Self::Cell {
            column: PERSON.to_owned(),
            reason: errors.join("; "),
        }
    }
}

/// The faults of a file. Only those of the first lines are kept.
#[derive(Debug, Default)]
pub struct MarkErrors {
    /// By line and by the number of the fault.
    kept: BTreeMap<(u64, usize), MarkError>,
    count: usize,
}

impl MarkErrors {
    /// Adds a fault of the row that begins at a line.
    pub fn add(&mut self, line: u64, error: MarkError) {
        self.kept.insert((line, self.count), error);
        self.count += 1;
        if self.kept.len() > MOST_LISTED {
            self.kept.pop_last();
        }
    }

    /// Number of all faults.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The first hundred faults with their lines, in the order of the lines.
    pub fn listed(&self) -> impl ExactSizeIterator<Item = (u64, &MarkError)> {
        self.kept.iter().map(|((line, _), error)| (*line, error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_errors_are_counted_and_those_of_the_first_lines_listed() {
        let mut errors = MarkErrors::default();
        for line in (1..=150).rev() {
            errors.add(line, MarkError::UnknownRef);
        }
        errors.add(1, MarkError::NoResult);
        assert_eq!(errors.count(), 151);
        let listed: Vec<_> = errors.listed().collect();
        assert_eq!(listed.len(), 100);
        assert_eq!(listed[0], (1, &MarkError::UnknownRef));
        assert_eq!(listed[1], (1, &MarkError::NoResult));
        assert_eq!(listed[99].0, 99);
    }
}
