//! Saved results and their states: which may be retried, and what a repeated idempotency key means
//! (spec 3).
//!
//! This module only decides: use cases ask the model, and the database settles races.

pub mod cost;
pub mod file_run;
pub mod mark;
pub mod retest;

pub use self::cost::Cost;
pub use self::file_run::{FileRunChange, FileRunLimits, FileRunState, RunProgress, StoredMapping};
pub use self::retest::{DrawnTexts, RetestChange, RetestState, TextOrigin};

use chrono::{DateTime, SubsecRound as _, Utc};

use crate::answer::{Answer, Answers};
use crate::ids::{ApiKeyId, PersonId, PrismId, ResultId};
use crate::key::{FieldKey, QuestionKey};
use crate::lens::{Column, Value};
use crate::prism::{Field, Question, VersionNumber};
use crate::submission::{FieldValues, IdempotencyKey, Ref, Submission};

/// The status of a result, which never changes after the result is saved (spec 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultStatus {
    /// The model answered every question.
    Ok(Answers),
    /// The model gave no usable answer.
    Failed {
        /// The reason, worded for people.
        error: String,
    },
}

impl ResultStatus {
    /// The status's name: `ok` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::Failed { .. } => "failed",
        }
    }

    /// The answers; `None` for a failed result.
    pub fn answers(&self) -> Option<&Answers> {
        match self {
            Self::Ok(answers) => Some(answers),
            Self::Failed { .. } => None,
        }
    }

    /// The reason of a failure; `None` for an `ok` result.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Ok(_) => None,
            Self::Failed { error } => Some(error),
        }
    }
}

/// One submission with the answers of one prism version, as it is saved (spec 2.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedResult {
    /// The result's id, a `UUIDv7`.
    pub id: ResultId,
    /// The prism that was asked.
    pub prism: PrismId,
    /// The number of the version that was asked.
    pub version: VersionNumber,
    /// The caller's own reference.
    pub reference: Option<Ref>,
    /// The field values and context that were sent.
    pub submission: Submission,
    /// Answers or error.
    pub status: ResultStatus,
    /// How long the model took to answer, in milliseconds.
    pub took_ms: u64,
    /// When the result was saved, in whole milliseconds.
    pub created_at: DateTime<Utc>,
    /// The idempotency key of the result; a retry moves the key to the new result.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// A moment cut to whole milliseconds, the precision of saved results.
pub fn whole_milliseconds(moment: DateTime<Utc>) -> DateTime<Utc> {
    moment.trunc_subsecs(3)
}

/// Why a result cannot be retried (spec 4.3), in the order in which the reasons are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetryError {
    /// The result is `ok`.
    #[error("Only a failed result can be retried.")]
    NotFailed,
    /// The result has been retried before; a result is retried at most once.
    #[error("This result was already retried as {0}.")]
    AlreadyRetried(ResultId),
    /// The prism is archived, and an archived prism does not answer.
    #[error("This prism is archived, so it cannot answer.")]
    PrismArchived,
}

impl SavedResult {
    /// Checks that the result may be retried.
    ///
    /// # Errors
    /// The first reason that prevents a retry.
    pub fn may_be_retried(
        &self,
        retried_as: Option<ResultId>,
        prism_is_archived: bool,
    ) -> Result<(), RetryError> {
        if self.status.answers().is_some() {
            return Err(RetryError::NotFailed);
        }
        if let Some(new) = retried_as {
            return Err(RetryError::AlreadyRetried(new));
        }
        if prism_is_archived {
            return Err(RetryError::PrismArchived);
        }
        Ok(())
    }

    /// What to do with a create call to `prism` that repeats this result's idempotency key
    /// (spec 4.1).
    ///
    /// # Errors
    /// When the result belongs to another prism.
    pub fn repeat(&self, prism: PrismId) -> Result<Repeat, HeldByAnotherPrism> {
        if self.prism != prism {
            return Err(HeldByAnotherPrism);
        }
        match self.status {
            ResultStatus::Ok(_) => Ok(Repeat::Replay),
            ResultStatus::Failed { .. } => Ok(Repeat::Retry),
        }
    }
}

/// What to do with a create call that repeats an idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// Return the stored result without asking the model.
    Replay,
    /// Ask the model again with the stored fields, version, context and `ref`.
    Retry,
}

/// A result of another prism holds the idempotency key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("This idempotency key was already used for another prism.")]
pub struct HeldByAnotherPrism;

/// Who created a result, a version or an API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ResultActor {
    /// A program with this API key.
    Key(ApiKeyId),
    /// A person in the app.
    Person(PersonId),
    /// An operator at the terminal.
    Operator,
}

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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::submission::FieldValues;

    fn result(status: ResultStatus) -> SavedResult {
        SavedResult {
            id: ResultId::new(Uuid::from_u128(1)),
            prism: PrismId::new(Uuid::from_u128(2)),
            version: VersionNumber::FIRST,
            reference: None,
            submission: Submission::saved(FieldValues::new(Vec::new()), None),
            status,
            took_ms: 0,
            created_at: DateTime::UNIX_EPOCH,
            idempotency_key: None,
        }
    }

    fn ok() -> SavedResult {
        result(ResultStatus::Ok(Answers::default()))
    }

    fn failed() -> SavedResult {
        result(ResultStatus::Failed {
            error: "timeout".to_owned(),
        })
    }

    #[test]
    fn only_a_failed_result_that_was_not_retried_may_be_retried() {
        let new = ResultId::new(Uuid::from_u128(9));
        assert_eq!(failed().may_be_retried(None, false), Ok(()));
        assert_eq!(
            ok().may_be_retried(Some(new), true),
            Err(RetryError::NotFailed)
        );
        let again = failed().may_be_retried(Some(new), true).unwrap_err();
        assert_eq!(
            again.to_string(),
            "This result was already retried as 00000000-0000-0000-0000-000000000009."
        );
        assert_eq!(
            failed().may_be_retried(None, true),
            Err(RetryError::PrismArchived)
        );
    }

    #[test]
    fn a_repeated_key_replays_retries_or_conflicts() {
        let (own, other) = (
            PrismId::new(Uuid::from_u128(2)),
            PrismId::new(Uuid::from_u128(3)),
        );
        assert_eq!(ok().repeat(own), Ok(Repeat::Replay));
        assert_eq!(failed().repeat(own), Ok(Repeat::Retry));
        assert_eq!(ok().repeat(other), Err(HeldByAnotherPrism));
        assert_eq!(failed().repeat(other), Err(HeldByAnotherPrism));
    }
}
