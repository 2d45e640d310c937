//! Signs people in by address and password.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::SignInTryId;
use refract_domain::password::TypedPassword;
use refract_domain::person::Email;
use refract_persistence::{Database, PersistenceError, SignInTry};
use uuid::Uuid;

use super::password_hash::HashPlace;
use super::session::{LASTS, Session, new_session};
use crate::secrets::SecretFailed;

/// Wrong tries for one address within [`WINDOW`] after which the next ones are stopped.
const WRONG_TRIES: usize = 10;
/// How long a wrong try counts.
const WINDOW: TimeDelta = TimeDelta::minutes(15);

/// Why nobody was signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInRefusal {
    /// No person has this address and password. Which of the two is wrong is not said.
    #[error("this address and password do not belong together")]
    Wrong,
    /// There were too many wrong tries for this address.
    #[error("too many wrong tries for this address: try again after {} UTC", minute(*.until))]
    TooManyTries {
        /// When the next try is let through.
        until: DateTime<Utc>,
    },
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretFailed),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

/// Signs in the person who has this address and password. An address that nobody has costs as much
/// time as a wrong password.
///
/// A try is saved before the password is looked at and deleted when it succeeds, so that the tries
/// of all nodes are counted together. A try that is stopped does not count, nor does one that finds
/// no place among those who wait for their password to be hashed.
///
/// # Errors
/// When address and password do not belong together, there were ten wrong tries in 15 minutes, too
/// many people sign in at this moment, or the database fails.
pub async fn sign_in(
    database: &Database,
    email: &str,
    password: TypedPassword,
) -> Result<Session, SignInRefusal> {
    let place = HashPlace::take()?;
    let Ok(email) = Email::parse(email) else {
        place.verify(password, None).await?;
        return Err(SignInRefusal::Wrong);
    };
    let now = Utc::now();
    let new = SignInTry {
        id: SignInTryId(Uuid::now_v7()),
        email: email.hash(),
        tried_at: now,
    };
    let others = database.save_sign_in_try(new, now - WINDOW).await?;
    if let Some(until) = stopped_until(&others) {
        database.delete_sign_in_try(new.id).await?;
        return Err(SignInRefusal::TooManyTries { until });
    }
    let found = database.find_password(&email).await?;
    let hash = found.as_ref().map(|found| found.hash.clone());
    let is_right = place.verify(password, hash).await?;
    let Some(checked) = found.filter(|_| is_right) else {
        return Err(SignInRefusal::Wrong);
    };
    let (session, new_session) = new_session()?;
    if !database.begin_session(checked, new_session).await? {
        return Err(SignInRefusal::Wrong);
    }
    database.delete_sign_in_try(new.id).await?;
    database.delete_expired_sessions(now - LASTS, now).await?;
    Ok(session)
}

/// Until when a try is stopped, by the moments of the others, oldest first; `None` for a try that is
/// let through.
fn stopped_until(others: &[DateTime<Utc>]) -> Option<DateTime<Utc>> {
    let too_many = others.len().checked_sub(WRONG_TRIES)?;
    let last_to_forget = others.get(too_many)?;
    Some(*last_to_forget + WINDOW)
}

/// The minute that begins after a moment, as a time of day.
fn minute(moment: DateTime<Utc>) -> impl std::fmt::Display {
    (moment + TimeDelta::seconds(59)).format("%H:%M")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tries(number: i64) -> Vec<DateTime<Utc>> {
        let at = |minute| DateTime::UNIX_EPOCH + TimeDelta::minutes(minute);
        (0..number).map(at).collect()
    }

    #[test]
    fn ten_wrong_tries_stop_the_next_until_the_oldest_of_the_last_ten_is_forgotten() {
        assert_eq!(stopped_until(&[]), None);
        assert_eq!(stopped_until(&tries(9)), None);
        let minutes_after = |until: Option<DateTime<Utc>>| {
            until.map(|until| (until - DateTime::UNIX_EPOCH).num_minutes())
        };
        assert_eq!(minutes_after(stopped_until(&tries(10))), Some(15));
        assert_eq!(minutes_after(stopped_until(&tries(12))), Some(17));
    }

    #[test]
    fn a_stopped_try_says_when_to_try_again() {
        let until = DateTime::UNIX_EPOCH + TimeDelta::seconds(14 * 3600 + 61);
        assert_eq!(
            SignInRefusal::TooManyTries { until }.to_string(),
            "too many wrong tries for this address: try again after 14:02 UTC"
        );
    }
}
