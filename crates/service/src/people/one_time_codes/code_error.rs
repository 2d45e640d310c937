//! Why a one-time code did not do what it was typed for.

use chrono::{DateTime, Utc};
use refract_persistence::PersistenceError;

use crate::people::secrets::SecretError;
use crate::people::sign_in_error::SignInError;

/// Why a one-time code did not do what it was typed for. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum CodeError {
    /// The text cannot be a code. It does not count as a wrong one.
    #[error("a code has 6 digits, a recovery code has 16 letters and digits")]
    NoCode,
    /// The code is wrong, or it was used before.
    #[error("this code is wrong or was used before: type the next one that your app shows")]
    Wrong,
    /// There were too many wrong codes.
    #[error(transparent)]
    Blocked(SignInError),
    /// The sign-in is no longer pending.
    #[error("this sign-in took over 5 minutes or had too many wrong codes: sign in again")]
    Over,
    /// The password that came with the code is wrong, or the try was blocked.
    #[error(transparent)]
    Password(SignInError),
    /// The codes were switched on or off meanwhile, or another set-up was begun.
    #[error("your one-time codes were changed meanwhile: look at them again")]
    Meanwhile,
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl CodeError {
    /// The error of a code try.
    pub(crate) fn of_code(error: SignInError) -> Self {
        match error {
            SignInError::Wrong => Self::Wrong,
            SignInError::PasswordsOff
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. } => Self::Blocked(error),
            SignInError::Secret(error) => Self::Secret(error),
            SignInError::Persistence(error) => Self::Persistence(error),
        }
    }

    /// The error of the password that came with a code.
    pub(crate) fn of_password(error: SignInError) -> Self {
        match error {
            SignInError::Wrong
            | SignInError::PasswordsOff
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. } => Self::Password(error),
            SignInError::Secret(error) => Self::Secret(error),
            SignInError::Persistence(error) => Self::Persistence(error),
        }
    }

    /// Seconds after which it makes sense to try again; `None` where that is not known.
    pub fn retry_after(&self, now: DateTime<Utc>) -> Option<u64> {
        match self {
            Self::Blocked(error) | Self::Password(error) => error.retry_after(now),
            Self::NoCode
            | Self::Wrong
            | Self::Over
            | Self::Meanwhile
            | Self::Secret(_)
            | Self::Persistence(_) => None,
        }
    }
}
