//! Marks: the correct outcomes of saved results, as judged by people. They are imported from the
//! rows of a file and exported as rows.
//!
//! An import checks every row before anything is saved: [`Marks::check`] returns either marks that
//! are ready to be saved, or every fault. Its memory grows with the marks of the file, not with the
//! results of the prism.

mod check;
mod errors;
mod export;
mod review;
mod stated_outcomes;

use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::{ColumnName, QuestionKey};
use refract_domain::lens::Value;
use refract_domain::result::mark::source::MarkSource;
use refract_domain::result::mark::{self, Mark, MarkNote, Marker};
use refract_domain::result::view::ResultView;
use refract_domain::submission::reference::Ref;

pub use self::check::{CheckedMarks, MarkChange, MarksError};
pub use self::errors::{MarkError, MarkErrors};
pub use self::review::{
    Judgement, JudgementInput, MeasuredSoFar, NextToReview, QueueKind, REVIEWED_NEWEST, ReviewFrom,
    ReviewItem, ReviewQueue, ReviewStep, Sitting,
};

use crate::lenses::prism_lens::PrismLens;
use crate::measures::evaluation;
use crate::{InternalError, Refract};

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
    /// The name of the person who marks; `None` when no name was given.
    pub marked_by: Option<Marker>,
    /// How the results came to be marked; `None` for a result that the person chose.
    pub source: Option<MarkSource>,
    /// What the person notes.
    pub note: Option<MarkNote>,
}

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
