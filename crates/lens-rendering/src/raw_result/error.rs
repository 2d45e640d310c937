//! Why a raw result is refused, with the place and the keys there, and never a text.

use refract_domain::answer::matching::AnswersMismatch;
use refract_domain::json::Malformed;
use refract_domain::prism::VersionNumber;
use refract_domain::problem::ValidationError;
use refract_domain::submission::FieldMismatch;

/// Why a [`RawResult`](crate::RawResult) cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RawResultError {
    /// The text is no JSON.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// A value is absent or of another kind.
    #[error("{path}: {error}")]
    Value {
        /// Keys, joined with dots; `result` for the whole.
        path: String,
        /// What is wrong with the value.
        error: ValidationError,
    },
    /// The id is no UUID.
    #[error("id: not a UUID")]
    Id,
    /// The moment is not in the form in which the API writes it.
    #[error("created_at: not a moment such as 2026-05-04T09:08:07.060Z")]
    Moment,
    /// An ok result has answers and no error, a failed one an error and no answers.
    #[error("an ok result has answers and no error, a failed one has an error and no answers")]
    Status,
    /// The version that answered was not found.
    #[error("answered by version {0}, which is not among the versions")]
    NoSuchVersion(VersionNumber),
    /// The answers are not to the questions of the version.
    #[error("the answers do not match the version: {0}")]
    Answers(#[from] AnswersMismatch),
    /// The field values are not those of the version.
    #[error("fields: {0}")]
    Fields(#[from] FieldMismatch),
}
