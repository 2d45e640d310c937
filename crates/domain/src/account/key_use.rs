//! Whether an API key is still in use, and what its owners should know before it ends.

use chrono::{DateTime, TimeDelta, Utc};

/// A key without a used successor is in use for this long after a call: programs may call weekly.
const IN_USE: TimeDelta = TimeDelta::days(14);
/// A key whose successor is used is in use for this long after a call.
const IN_USE_BESIDE_SUCCESSOR: TimeDelta = TimeDelta::days(1);
/// Owners are reminded this long before a key in use ends.
const REMINDED: TimeDelta = TimeDelta::days(14);
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// When a key was made, used and ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyTimes {
    /// When the key was made.
    pub created_at: DateTime<Utc>,
    /// When the key was last used; `None` for never.
    pub last_used_at: Option<DateTime<Utc>>,
    /// The key is refused from this moment on; `None` for a key that never expires.
    pub expires_at: Option<DateTime<Utc>>,
    /// When the key was revoked.
    pub revoked_at: Option<DateTime<Utc>>,
}

/// What the owners of a key should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyReminder {
    /// The key is in use and ends within 14 days.
    EndsSoon {
        /// When the key ends.
        ends_at: DateTime<Utc>,
    },
    /// The key was used after its successor was made, and the successor never was.
    SuccessorUnused,
}

impl KeyTimes {
    /// Whether the key opens its account at a moment.
    pub fn is_accepted(&self, now: DateTime<Utc>) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| end > now)
    }

    /// Whether programs still use the key. `successor` is the key that replaces it.
    pub fn is_in_use(&self, successor: Option<&Self>, now: DateTime<Utc>) -> bool {
        let is_replaced = successor.is_some_and(|key| key.last_used_at.is_some());
        let in_use = if is_replaced {
            IN_USE_BESIDE_SUCCESSOR
        } else {
            IN_USE
        };
        self.is_accepted(now) && self.last_used_at.is_some_and(|used| now - used < in_use)
    }

    /// What the owners should know; `None` for a key that needs nothing. `successor` is the key
    /// that replaces it.
    pub fn reminder(&self, successor: Option<&Self>, now: DateTime<Utc>) -> Option<KeyReminder> {
        if !self.is_in_use(successor, now) {
            return None;
        }
        let is_unused = |successor: &Self| {
            successor.is_accepted(now)
                && successor.last_used_at.is_none()
                && self.last_used_at > Some(successor.created_at)
        };
        if successor.is_some_and(is_unused) {
            return Some(KeyReminder::SuccessorUnused);
        }
        let soon = self.expires_at.filter(|end| *end - now <= REMINDED);
        soon.map(|ends_at| KeyReminder::EndsSoon { ends_at })
    }
}

/// The days until a moment, with their fraction; 0 for a moment that has passed.
pub fn days_left(ends_at: DateTime<Utc>, now: DateTime<Utc>) -> f64 {
    ((ends_at - now).as_seconds_f64() / DAY).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(number: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::days(20_000 + number)
    }

    /// A key that was made on day 0.
    fn key(last_used: Option<i64>, ends: Option<i64>) -> KeyTimes {
        KeyTimes {
            created_at: day(0),
            last_used_at: last_used.map(day),
            expires_at: ends.map(day),
            revoked_at: None,
        }
    }

    #[test]
    fn owners_are_reminded_of_a_key_in_use_that_ends_within_two_weeks() {
        let ends_soon = |end| Some(KeyReminder::EndsSoon { ends_at: day(end) });
        for (last_used, ends, expected) in [
            (Some(99), Some(114), ends_soon(114)),
            (Some(87), Some(101), ends_soon(101)),
            (Some(99), Some(115), None),
            (Some(99), Some(100), None),
            (Some(99), None, None),
            (Some(86), Some(101), None),
            (None, Some(101), None),
        ] {
            let key = key(last_used, ends);
            assert_eq!(key.reminder(None, day(100)), expected, "{key:?}");
        }
        let revoked = KeyTimes {
            revoked_at: Some(day(99)),
            ..key(Some(99), Some(101))
        };
        assert_eq!(revoked.reminder(None, day(100)), None);
    }

    #[test]
    fn owners_are_reminded_of_a_successor_that_nobody_uses() {
        let successor = |last_used, ends| KeyTimes {
            created_at: day(95),
            ..key(last_used, ends)
        };
        let ends_soon = Some(KeyReminder::EndsSoon { ends_at: day(102) });
        let unused = Some(KeyReminder::SuccessorUnused);
        for (last_used, successor, expected) in [
            (99, successor(None, None), unused),
            (94, successor(None, None), ends_soon),
            (99, successor(None, Some(100)), ends_soon),
            // both are used
            (100, successor(Some(99), None), ends_soon),
            // the programs use the successor
            (99, successor(Some(99), None), None),
        ] {
            let reminder = key(Some(last_used), Some(102)).reminder(Some(&successor), day(100));
            assert_eq!(reminder, expected, "{last_used} {successor:?}");
        }
    }

    #[test]
    fn days_left_have_a_fraction_and_end_at_zero() {
        let half = day(1) + TimeDelta::hours(12);
        assert!((days_left(half, day(0)) - 1.5).abs() < 1e-9);
        assert!(days_left(day(0), half).abs() < 1e-9);
    }
}
