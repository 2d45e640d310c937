//! Why a trial of the model cannot be asked.

use refract_domain::submission::FieldMismatch;

/// Why a trial cannot be asked, which is a bug.
#[derive(Debug, thiserror::Error)]
pub enum ModelTrialError {
    /// The trial's question is invalid.
    #[error(transparent)]
    Question(#[from] serde_json::Error),
    /// The trial's text does not have the question's fields.
    #[error(transparent)]
    Text(#[from] FieldMismatch),
}
