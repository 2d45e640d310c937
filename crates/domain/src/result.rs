//! Saved results and their states: what may be retried, and what a repeated key means (spec 3).
//!
//! It decides and does not act: use cases ask the model, the database settles races.

use chrono::{DateTime, SubsecRound as _, Utc};

use crate::answer::Answers;
use crate::ids::{PrismId, ResultId};
use crate::prism::VersionNumber;
use crate::reference::{IdempotencyKey, Ref};
use crate::submission::Submission;

/// How a call ended. It never changes after it is saved (spec 3.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultStatus {
    /// Every question came back with an answer.
    Ok(Answers),
    /// The model gave no usable answer.
    Failed {
        /// Why, in words for people.
        error: String,
    },
}

impl ResultStatus {
    /// `ok` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ok(_) => "ok",
            Self::Failed { .. } => "failed",
        }
    }

    /// The answers; `None` when it failed.
    pub fn answers(&self) -> Option<&Answers> {
        match self {
            Self::Ok(answers) => Some(answers),
            Self::Failed { .. } => None,
        }
    }

    /// Why it failed; `None` when it did not.
    pub fn error(&self) -> Option<&str> {
        match self {
            Self::Ok(_) => None,
            Self::Failed { error } => Some(error),
        }
    }
}

/// One set of field values answered by one prism version (spec 2.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedResult {
    /// `UUIDv7`.
    pub id: ResultId,
    /// The prism that answered.
    pub prism: PrismId,
    /// The version that answered.
    pub version: VersionNumber,
    /// The caller's own reference.
    pub reference: Option<Ref>,
    /// What was sent.
    pub submission: Submission,
    /// How it ended.
    pub status: ResultStatus,
    /// Duration of the call to the model, in milliseconds.
    pub took_ms: u64,
    /// When it was saved, in whole milliseconds.
    pub created_at: DateTime<Utc>,
    /// The key that it holds now; a retry takes it away.
    pub idempotency_key: Option<IdempotencyKey>,
}

/// A moment cut to milliseconds, as results keep it.
pub fn whole_milliseconds(moment: DateTime<Utc>) -> DateTime<Utc> {
    moment.trunc_subsecs(3)
}

/// Why a result cannot be retried (spec 4.3), in the order in which the reasons are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RetryRefusal {
    /// It is `ok`.
    #[error("Only a failed result can be retried.")]
    NotFailed,
    /// A result is retried once.
    #[error("This result was already retried as {0}.")]
    AlreadyRetried(ResultId),
    /// An archived prism does not answer.
    #[error("This prism is archived, so it cannot answer.")]
    PrismArchived,
}

impl SavedResult {
    /// Whether the result may be retried.
    ///
    /// # Errors
    /// The first reason why not.
    pub fn may_be_retried(
        &self,
        retried_as: Option<ResultId>,
        prism_is_archived: bool,
    ) -> Result<(), RetryRefusal> {
        if self.status.answers().is_some() {
            return Err(RetryRefusal::NotFailed);
        }
        if let Some(new) = retried_as {
            return Err(RetryRefusal::AlreadyRetried(new));
        }
        if prism_is_archived {
            return Err(RetryRefusal::PrismArchived);
        }
        Ok(())
    }

    /// What a create call means whose idempotency key this result holds (spec 4.1).
    ///
    /// # Errors
    /// When the result is another prism's.
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

/// What a repeated idempotency key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// The stored result, without asking the model.
    Replay,
    /// A retry with the stored fields, version, context and `ref`.
    Retry,
}

/// The idempotency key is held by a result of another prism.
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
            id: ResultId(Uuid::from_u128(1)),
            prism: PrismId(Uuid::from_u128(2)),
            version: VersionNumber::FIRST,
            reference: None,
            submission: Submission::saved(FieldValues(Vec::new()), None),
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
        let new = ResultId(Uuid::from_u128(9));
        assert_eq!(failed().may_be_retried(None, false), Ok(()));
        assert_eq!(
            ok().may_be_retried(Some(new), true),
            Err(RetryRefusal::NotFailed)
        );
        let again = failed().may_be_retried(Some(new), true).unwrap_err();
        assert_eq!(
            again.to_string(),
            "This result was already retried as 00000000-0000-0000-0000-000000000009."
        );
        assert_eq!(
            failed().may_be_retried(None, true),
            Err(RetryRefusal::PrismArchived)
        );
    }

    #[test]
    fn a_repeated_key_replays_retries_or_conflicts() {
        let (own, other) = (PrismId(Uuid::from_u128(2)), PrismId(Uuid::from_u128(3)));
        assert_eq!(ok().repeat(own), Ok(Repeat::Replay));
        assert_eq!(failed().repeat(own), Ok(Repeat::Retry));
        assert_eq!(ok().repeat(other), Err(HeldByAnotherPrism));
        assert_eq!(failed().repeat(other), Err(HeldByAnotherPrism));
    }
}
