//! When a provider is asked again about a session, and when a session that it began is over.

use chrono::{DateTime, TimeDelta, Utc};
use refract_persistence::ProviderCheck;

/// Age of a check at which the provider is asked again.
pub(super) const RECHECK: TimeDelta = TimeDelta::minutes(10);
/// Age of a check up to which a provider that is away is not missed.
const AWAY: TimeDelta = TimeDelta::hours(1);
/// How long a session lasts whose provider cannot be asked again: a working day.
const LASTS_UNCHECKED: TimeDelta = TimeDelta::hours(8);
/// When the provider is asked again after it was away.
pub(super) const AGAIN: TimeDelta = TimeDelta::minutes(1);

/// Whether a session of a provider's person may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckStanding {
    /// The provider was asked lately.
    Good,
    /// The provider is to be asked now.
    Due,
    /// The provider cannot be asked, and the session is over.
    Over,
}

impl CheckStanding {
    pub(super) fn of(check: ProviderCheck, now: DateTime<Utc>) -> Self {
        match check.next_check_at {
            Some(next) if now < next && is_missed_not(check, now) => Self::Good,
            Some(_) => Self::Due,
            None if now - check.checked_at < LASTS_UNCHECKED => Self::Good,
            None => Self::Over,
        }
    }
}

/// Whether a check is young enough for a session to go on while the provider is away.
pub(super) fn is_missed_not(check: ProviderCheck, now: DateTime<Utc>) -> bool {
    now - check.checked_at < AWAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_due_after_its_time_and_over_after_a_day_of_work() {
        let checked_at = DateTime::UNIX_EPOCH;
        let standing = |next: Option<TimeDelta>, now: TimeDelta| {
            let check = ProviderCheck {
                checked_at,
                next_check_at: next.map(|next| checked_at + next),
                had_second_factor: false,
            };
            CheckStanding::of(check, checked_at + now)
        };
        let minutes = TimeDelta::minutes;
        assert_eq!(standing(Some(RECHECK), minutes(9)), CheckStanding::Good);
        assert_eq!(standing(Some(RECHECK), minutes(10)), CheckStanding::Due);
        // the provider was away until now, and is asked again in a moment
        let put_off = |age| standing(Some(minutes(age) + AGAIN), minutes(age));
        assert_eq!(put_off(59), CheckStanding::Good);
        assert_eq!(put_off(60), CheckStanding::Due);
        assert_eq!(standing(None, minutes(479)), CheckStanding::Good);
        assert_eq!(standing(None, minutes(480)), CheckStanding::Over);
    }
}
