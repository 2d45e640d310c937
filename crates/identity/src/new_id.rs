//! Ids of results and events, which begin with their moment.

use std::sync::{Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use uuid::{ContextV7, Timestamp, Uuid};

/// The most by which an id is later than its moment, after a clock was set back: searches by period
/// read ids that are five minutes later.
const AHEAD: TimeDelta = TimeDelta::minutes(1);

static IDS: Mutex<Ids> = Mutex::new(Ids::new());

/// A new id (UUIDv7) and its moment. Ids of one process increase, also within a millisecond, unless
/// its clock is set back by over a minute: then they follow the clock.
pub fn new_id() -> (Uuid, DateTime<Utc>) {
    let mut ids = IDS.lock().unwrap_or_else(PoisonError::into_inner);
    let now = Utc::now();
    (ids.next(now), now)
}

/// Makes ids that increase.
struct Ids {
    /// The latest moment of an id.
    latest: DateTime<Utc>,
    context: ContextV7,
}

impl Ids {
    const fn new() -> Self {
        Self {
            latest: DateTime::<Utc>::MIN_UTC,
            context: ContextV7::new(),
        }
    }

    fn next(&mut self, now: DateTime<Utc>) -> Uuid {
        if self.latest - now > AHEAD {
            *self = Self::new();
        }
        self.latest = self.latest.max(now);
        let seconds = u64::try_from(now.timestamp()).unwrap_or_default();
        let moment = Timestamp::from_unix(&self.context, seconds, now.timestamp_subsec_nanos());
        Uuid::new_v7(moment)
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::ids::ResultId;

    use super::*;

    fn moment(seconds: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_700_000_000 + seconds, 0).unwrap()
    }

    #[test]
    fn ids_increase_within_a_millisecond_and_while_a_clock_is_corrected() {
        let mut ids = Ids::new();
        let mut last = Uuid::nil();
        for seconds in [0, 0, 0, 1, -59, -58, 1, 2] {
            for _ in 0..100 {
                let next = ids.next(moment(seconds));
                assert!(next > last, "{seconds}");
                last = next;
            }
        }
        let (one, at) = new_id();
        let (other, _) = new_id();
        assert!(one < other);
        let late = ResultId::new(one).moment() - at;
        assert!(late.abs() <= AHEAD, "{late}");
    }

    #[test]
    fn ids_follow_a_clock_that_was_ahead_and_is_set_back() {
        let mut ids = Ids::new();
        let month = 31 * 86_400;
        for seconds in [0, month, 61, 0, -month, 5] {
            for _ in 0..3 {
                let id = ResultId::new(ids.next(moment(seconds)));
                assert_eq!(id.moment(), moment(seconds), "{seconds}");
            }
        }
    }
}
