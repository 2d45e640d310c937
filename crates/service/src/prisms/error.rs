//! Why a change to a prism is refused.

use refract_domain::prism::VersionNumber;
use refract_domain::problem::Problems;
use refract_persistence::PersistenceError;

use crate::InternalError;

/// Attempts at a change that conflicts with other changes of the prism.
pub(crate) const ATTEMPTS: usize = 16;

/// A change to a prism was refused; nothing was saved.
#[derive(Debug, thiserror::Error)]
pub enum PrismError {
    /// No such prism in the account.
    #[error("Prism not found")]
    NotFound,
    /// The prism has no such version.
    #[error("Prism version not found")]
    VersionNotFound,
    /// The prism or lens file breaks rules.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// The prism's latest version has the highest possible number.
    #[error("the prism has its highest version already")]
    NoMoreVersions,
    /// Another version was saved after the one that the change is based on.
    #[error(
        "version {latest} was saved meanwhile: look at what it changes, and save again on top of it"
    )]
    VersionMeanwhile {
        /// The prism's latest version now.
        latest: VersionNumber,
    },
    /// The lens was changed after the one that the change is based on.
    #[error("the lens was changed meanwhile: look at it, and save again on top of it")]
    LensMeanwhile,
    /// The history of the prism's lens has no such revision.
    #[error("the history of the lens has no such revision")]
    LensRevisionNotFound,
    /// Every attempt conflicted with another change of the prism.
    #[error("the prism is being changed by others: try again")]
    Contended,
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl From<InternalError> for PrismError {
    fn from(error: InternalError) -> Self {
        match error {
            InternalError::Persistence(error) => Self::Persistence(error),
            InternalError::VersionMissing => Self::VersionNotFound,
            InternalError::LensKeepsMoving | InternalError::NoModel => Self::Contended,
        }
    }
}
