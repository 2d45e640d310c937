//! Identity: the people, API keys and accounts of an installation, and the events of what they
//! change.
//!
//! [`Identity`] has a handle for each noun. It answers who makes a call or a change, and whether they
//! may: [`AccountActor`](people::AccountActor) is what the other use cases get. It knows no prism and
//! no result: only events, whose targets are named by a query of the database. It knows nothing of
//! HTTP, SQL or models.

pub mod events;
pub mod keys;
pub mod people;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};
use refract_persistence::Database;
use uuid::{ContextV7, Timestamp, Uuid};

use crate::keys::{KeyMetrics, KeyUses};
use crate::people::SignInWays;

/// The use cases of identity over one database. Clones are cheap and share the metrics and the uses
/// of keys that are not saved yet.
#[derive(Clone)]
pub struct Identity {
    database: Database,
    key_uses: KeyUses,
    key_metrics: KeyMetrics,
    sign_in_ways: SignInWays,
    /// Set once an account was found to have people.
    has_people: Arc<AtomicBool>,
}

impl Identity {
    /// The use cases over a database. People sign in by passwords only, until other ways are
    /// [set](Self::with_sign_in_ways).
    pub fn new(database: Database) -> Self {
        Self {
            database,
            key_uses: KeyUses::default(),
            key_metrics: KeyMetrics::default(),
            sign_in_ways: SignInWays::default(),
            has_people: Arc::default(),
        }
    }

    /// Sets the database, such as that of a thread or of a request.
    #[must_use]
    pub fn with_database(self, database: Database) -> Self {
        Self { database, ..self }
    }

    /// Sets metrics of keys that are exported.
    #[must_use]
    pub fn with_key_metrics(self, key_metrics: KeyMetrics) -> Self {
        Self {
            key_metrics,
            ..self
        }
    }

    /// Sets how people may sign in.
    #[must_use]
    pub fn with_sign_in_ways(self, sign_in_ways: SignInWays) -> Self {
        Self {
            sign_in_ways,
            ..self
        }
    }
}

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
