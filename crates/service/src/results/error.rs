//! Why a call is refused.

use refract_domain::result::{HeldByAnotherPrism, RetryError};
use refract_domain::submission::FieldMismatch;
use refract_domain::submission::budget::OverBudget;
use refract_identity::keys::InvalidApiKey;
use refract_persistence::PersistenceError;

/// Why a call was refused, before anything was saved.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// The API key is unknown, revoked or expired, or the client is outside its networks.
    #[error("Invalid API key")]
    InvalidApiKey,
    /// The account has no such prism, or the prism is archived.
    #[error("Prism not found")]
    PrismNotFound,
    /// The prism has no version of the pinned number.
    #[error("Prism version not found")]
    VersionNotFound,
    /// The account has no such result.
    #[error("Result not found")]
    ResultNotFound,
    /// The idempotency key is held by a result of another prism.
    #[error(transparent)]
    HeldByAnotherPrism(#[from] HeldByAnotherPrism),
    /// The result cannot be retried.
    #[error(transparent)]
    Retry(#[from] RetryError),
    /// The fields sent are not the fields of the version.
    #[error(transparent)]
    Fields(#[from] FieldMismatch),
    /// The token estimate is over the budget.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// The service failed, not the caller.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

/// A bug or a failure of the database. The text is for the operator's log, not for callers.
#[derive(Debug, thiserror::Error)]
pub enum InternalError {
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
    /// A saved result or a prism names a version that does not exist.
    #[error("a version that a result or a prism names is missing")]
    VersionMissing,
    /// The lens was replaced during every attempt to read it.
    #[error("the lens changed while it was read: try again")]
    LensKeepsMoving,
    /// No model was given to the use cases.
    #[error("there is no model to ask")]
    NoModel,
}

impl From<InvalidApiKey> for CallError {
    fn from(_: InvalidApiKey) -> Self {
        Self::InvalidApiKey
    }
}

impl From<PersistenceError> for CallError {
    fn from(error: PersistenceError) -> Self {
        Self::Internal(InternalError::Persistence(error))
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_failure_of_the_database_is_described_once() {
        let error = CallError::from(PersistenceError::no_answer());
        assert_eq!(
            error.to_string(),
            "the database is not available: it does not answer"
        );
        assert!(error.source().is_none());
    }
}
