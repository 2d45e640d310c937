//! Views: everything that a format needs to show a result, as plain borrowed data.

use chrono::{DateTime, Utc};

use crate::answer::{Answer, Answers};
use crate::ids::ResultId;
use crate::key::{FieldKey, QuestionKey};
use crate::lens::{Column, Value};
use crate::prism::{Field, Question, VersionNumber};
use crate::result::ResultStatus;
use crate::submission::FieldValues;

/// The columns of a prism's rows: one header for any number of results (spec 4.0).
#[derive(Clone, Copy, Debug)]
pub struct RowColumns<'a> {
    /// Fields of the prism's latest version, in order.
    pub fields: &'a [Field],
    /// Columns of the prism's lens, in order.
    pub lens: &'a [Column],
}

/// One result with everything that the formats show.
#[derive(Clone, Copy)]
pub struct ResultView<'a> {
    /// Id of the result.
    pub id: ResultId,
    /// The caller's own reference.
    pub reference: Option<&'a str>,
    /// The prism's slug.
    pub prism: &'a str,
    /// Number of the version that answered.
    pub version: VersionNumber,
    /// The questions of the version that answered, with their outcomes and labels.
    pub questions: &'a [Question],
    /// The answers or the error.
    pub status: &'a ResultStatus,
    /// How long the model took to answer, in milliseconds.
    pub took_ms: u64,
    /// When the result was saved.
    pub created_at: DateTime<Utc>,
    /// The field values that were sent.
    pub fields: &'a FieldValues,
}

/// The answers of one result with the questions of the version that answered: a lens reads nothing
/// else.
#[derive(Clone, Copy)]
pub struct AnswersView<'a> {
    questions: &'a [Question],
    answers: &'a [(QuestionKey, Answer)],
}

impl<'a> AnswersView<'a> {
    /// The answers to these questions; `None` for a failed result.
    pub fn new(questions: &'a [Question], answers: Option<&'a Answers>) -> Self {
        Self {
            questions,
            answers: answers.map_or(&[][..], Answers::as_slice),
        }
    }

    /// The values in the columns of a lens, in the lens's order; all `Null` for a failed result.
    pub fn values(self, lens: &[Column]) -> impl Iterator<Item = Value<'a>> {
        let Self { questions, answers } = self;
        let mut last = 0;
        lens.iter().map(move |column| {
            let Some(index) = index_of(questions, &column.question, last) else {
                return Value::Null;
            };
            last = index;
            // answers are in the order of the questions
            let answer = answers
                .get(index)
                .filter(|(key, _)| *key == column.question);
            column.value(questions.get(index), answer.map(|(_, answer)| answer))
        })
    }
}

impl<'a> ResultView<'a> {
    /// The value sent for a field; `None` when the version that answered has no such field.
    pub fn field(&self, key: &FieldKey) -> Option<&'a str> {
        self.fields.get(key)
    }

    /// The answers alone, for a lens.
    pub fn answers(&self) -> AnswersView<'a> {
        AnswersView::new(self.questions, self.status.answers())
    }

    /// The values in the columns of a lens, in the lens's order; all `Null` for a failed result.
    pub fn values(&self, lens: &[Column]) -> impl Iterator<Item = Value<'a>> {
        self.answers().values(lens)
    }
}

/// The index of a question; `None` if no question has the key. Columns mostly follow the order of
/// their questions, so the search begins where the last one ended: a wide lens then costs one
/// comparison for each column.
fn index_of(questions: &[Question], key: &QuestionKey, from: usize) -> Option<usize> {
    let indexed = || questions.iter().enumerate();
    let mut onwards = indexed().skip(from).chain(indexed().take(from));
    onwards
        .find(|(_, question)| question.key == *key)
        .map(|(index, _)| index)
}
