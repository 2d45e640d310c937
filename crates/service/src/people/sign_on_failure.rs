//! Why a sign-on by the provider failed.

use refract_persistence::PersistenceError;
use refract_sign_on::SignOnError;

use super::accounts::AccountError;
use super::secrets::SecretError;
use super::sign_in_error::SignInError;

/// Why a sign-on failed. Nobody is signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignOnFailure {
    /// This installation has no sign-in provider.
    #[error("there is no sign-in provider here")]
    NoProvider,
    /// The provider, its answer or the rules.
    #[error(transparent)]
    Provider(#[from] SignOnError),
    /// Nobody invited the person, and only invited people join.
    #[error("nobody has invited you yet: ask an owner of the account to invite your email address")]
    NotInvited,
    /// The person is known in another account than the provider's.
    #[error(
        "your email address is in use in another account, whose people do not sign in this way"
    )]
    OfOtherAccount,
    /// The person was removed by an owner.
    #[error("you were removed from the account: an owner must invite you again")]
    Removed,
    /// The address belongs to somebody whom the provider knows by another id.
    #[error(
        "your address belongs to another identity at the sign-in provider: \
         an owner must remove that person first"
    )]
    AddressOfAnother,
    /// Too many codes from this network or browser were refused.
    #[error(transparent)]
    Blocked(SignInError),
    /// The account of new people does not exist.
    #[error(transparent)]
    Account(#[from] AccountError),
    /// A secret could not be made.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl SignOnFailure {
    /// The failure of a try that was not let through.
    pub(super) fn of_try(error: SignInError) -> Self {
        match error {
            SignInError::Persistence(error) => Self::Persistence(error),
            SignInError::Secret(error) => Self::Secret(error),
            SignInError::Wrong
            | SignInError::PasswordsOff
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. } => Self::Blocked(error),
        }
    }
}
