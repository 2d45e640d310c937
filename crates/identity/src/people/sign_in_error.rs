//! Why a sign-in failed, by a secret or by the provider.

use chrono::{DateTime, TimeDelta, Utc};
use refract_persistence::PersistenceError;
use refract_sign_on::SignOnError;

use super::accounts::AccountError;
use crate::people::secrets::SecretError;

/// Why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// No person has this address and password. The error does not reveal which of the two is
    /// wrong.
    #[error("this address and password do not belong together")]
    Wrong,
    /// There were too many wrong tries for this address, from this network or browser.
    #[error("too many wrong tries for this address: try again after {}", minute(*.until))]
    TooManyTries {
        /// When the next try is allowed.
        until: DateTime<Utc>,
    },
    /// Many addresses were tried from this network, or many codes of the sign-in provider.
    #[error("many sign-ins from your network failed: try again in {seconds} seconds")]
    Slowed {
        /// Seconds after which another try may be allowed.
        seconds: u64,
    },
    /// Passwords do not sign in here.
    #[error("passwords do not sign in here: sign in by the provider")]
    PasswordsOff,
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl SignInError {
    /// Seconds after which it makes sense to try again; `None` where that is not known.
    pub fn retry_after(&self, now: DateTime<Utc>) -> Option<u64> {
        match self {
            Self::TooManyTries { until } => {
                let seconds = (*until - now).num_seconds() + 1;
                Some(u64::try_from(seconds).unwrap_or(1))
            }
            Self::Slowed { seconds } => Some(*seconds),
            Self::Wrong | Self::PasswordsOff | Self::Secret(_) | Self::Persistence(_) => None,
        }
    }
}

/// A moment rounded up to the minute. Pages show it by the reader's clock.
fn minute(moment: DateTime<Utc>) -> impl std::fmt::Display {
    (moment + TimeDelta::seconds(59)).format("%Y-%m-%dT%H:%M:00Z")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_try_reports_when_to_try_again() {
        let until = DateTime::UNIX_EPOCH + TimeDelta::seconds(14 * 3600 + 61);
        assert_eq!(
            SignInError::TooManyTries { until }.to_string(),
            "too many wrong tries for this address: try again after 1970-01-01T14:02:00Z"
        );
        let now = until - TimeDelta::milliseconds(2_500);
        assert_eq!(
            SignInError::TooManyTries { until }.retry_after(now),
            Some(3)
        );
        assert_eq!(
            SignInError::Slowed { seconds: 5 }.to_string(),
            "many sign-ins from your network failed: try again in 5 seconds"
        );
    }
}
