//! Columns of marks, which an export adds to the columns of a lens.

use refract_domain::key::{ColumnName, QuestionKey};
use refract_domain::lens::Value;
use refract_domain::result::mark::{self, Mark};
use refract_domain::result::view::ResultView;

use crate::lenses::prism_lens::PrismLens;

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
