//! Why a call is not carried out, in the order in which the reasons are looked at.

use refract_domain::budget::OverBudget;
use refract_domain::result::{HeldByAnotherPrism, RetryRefusal};
use refract_domain::submission::FieldMismatch;
use refract_persistence::PersistenceError;

/// A call was refused; nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// No such key, or it was revoked.
    #[error("Invalid API key")]
    InvalidApiKey,
    /// No such prism in the account, or it is archived.
    #[error("Prism not found")]
    PrismNotFound,
    /// The pinned version does not exist.
    #[error("Prism version not found")]
    VersionNotFound,
    /// No such result in the account.
    #[error("Result not found")]
    ResultNotFound,
    /// The idempotency key is taken.
    #[error(transparent)]
    HeldByAnotherPrism(#[from] HeldByAnotherPrism),
    /// The result cannot be retried.
    #[error(transparent)]
    Retry(#[from] RetryRefusal),
    /// The fields sent are not those of the version.
    #[error(transparent)]
    Fields(#[from] FieldMismatch),
    /// The text is too large.
    #[error(transparent)]
    OverBudget(#[from] OverBudget),
    /// It is not the caller's fault.
    #[error(transparent)]
    Internal(#[from] InternalError),
}

/// A bug, or a database that fails. Its words are for the operator's log, not for callers.
#[derive(Debug, thiserror::Error)]
pub enum InternalError {
    /// The database failed.
    #[error("the database failed")]
    Persistence(#[from] PersistenceError),
    /// A saved result names a version that is not there.
    #[error("a version that a result or a prism names is missing")]
    VersionMissing,
    /// The lens was changed again and again while it was read.
    #[error("the lens did not hold still")]
    LensKeepsMoving,
}

impl From<PersistenceError> for Refusal {
    fn from(error: PersistenceError) -> Self {
        Self::Internal(InternalError::Persistence(error))
    }
}
