//! Why a sign-in failed.

use chrono::{DateTime, TimeDelta, Utc};
use refract_persistence::PersistenceError;

use crate::people::secrets::SecretError;

/// Why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// No person has this address and password. The error does not reveal which of the two is
    /// wrong.
    #[error("this address and password do not belong together")]
    Wrong,
    /// There were too many wrong tries for this address, from this network or browser.
    #[error("too many wrong tries for this address: try again after {} UTC", minute(*.until))]
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

/// A moment rounded up to the minute, as a time of day.
fn minute(moment: DateTime<Utc>) -> impl std::fmt::Display {
    (moment + TimeDelta::seconds(59)).format("%H:%M")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stopped_try_reports_when_to_try_again() {
        let until = DateTime::UNIX_EPOCH + TimeDelta::seconds(14 * 3600 + 61);
        assert_eq!(
            SignInError::TooManyTries { until }.to_string(),
            "too many wrong tries for this address: try again after 14:02 UTC"
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
