//! Saved results and their states: which may be retried, and what a repeated idempotency key means
//! (spec 3).
//!
//! This module only decides: use cases ask the model, and the database settles races.

pub mod actor;
pub mod cost;
pub mod file_run;
pub mod mark;
pub mod retest;
pub mod view;

use chrono::{DateTime, SubsecRound as _, Utc};

use crate::answer::Answers;
use crate::ids::{PrismId, ResultId};
use crate::prism::VersionNumber;
use crate::submission::{IdempotencyKey, Ref, Submission};

pub use self::actor::ResultActor;
pub use self::cost::Cost;
pub use self::file_run::{FileRunChange, FileRunLimits, FileRunState, RunProgress, StoredMapping};
pub use self::retest::{DrawnTexts, RetestChange, RetestState, TextOrigin};
pub use self::view::{AnswersView, ResultView, RowColumns};

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
