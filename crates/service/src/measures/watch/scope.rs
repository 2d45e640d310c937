//! Which windows of time are compared.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::{PrismId, ResultId};
use refract_evaluation::drift::alarm::NEWEST_RESULTS;
use refract_persistence::{Database, KeptHours, PersistenceError};

use super::hours::{CountedHours, begin_of, hour_of};

/// The default window.
const WINDOW: TimeDelta = TimeDelta::days(1);
/// The default window reaches back as far as this if a day has fewer than [`NEWEST_RESULTS`].
const LARGEST_WINDOW: TimeDelta = TimeDelta::days(7);
/// The default window that it is compared with: long enough to have every day of the week.
const BEFORE: TimeDelta = TimeDelta::days(28);

/// The windows that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchScope {
    /// The length of the window up to now, in whole hours; `None` for a day, or up to seven days
    /// where a day has fewer than 500 results.
    pub window: Option<TimeDelta>,
    /// What the window is compared with.
    pub against: WatchAgainst,
}

/// What a window is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchAgainst {
    /// The results of this time before the window.
    Before(TimeDelta),
    /// The results with marks that are a fair sample.
    Marks,
}

/// A day, against the 28 days before it.
impl Default for WatchScope {
    fn default() -> Self {
        Self {
            window: None,
            against: WatchAgainst::Before(BEFORE),
        }
    }
}

impl WatchScope {
    /// The stored counts of the hours that may be in one of the windows at a moment.
    pub(super) async fn stored(
        self,
        database: &Database,
        prism: PrismId,
        now: DateTime<Utc>,
    ) -> Result<KeptHours, PersistenceError> {
        let (first, end) = (self.first_hour(now), hour_of(now) + 1);
        database.list_watch_hours(prism, first, end).await
    }

    /// The first hour that may be in one of the windows at a moment.
    fn first_hour(self, now: DateTime<Utc>) -> i32 {
        let before = match self.against {
            WatchAgainst::Before(before) => before,
            WatchAgainst::Marks => TimeDelta::zero(),
        };
        let longest = self.window.unwrap_or(LARGEST_WINDOW);
        hour_of(now) - hours(longest) - hours(before)
    }

    /// The id before the results of the first hour.
    pub(super) fn first_result(self, now: DateTime<Utc>) -> ResultId {
        ResultId::first_of(begin_of(self.first_hour(now))).just_before()
    }
}

/// The first hours of the windows at one moment; all end now, or where the next begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WatchedHours {
    /// The first hour that the window is compared with.
    pub(super) before: i32,
    /// The first hour of the window.
    pub(super) window: i32,
    /// The first hour of the newest results; `None` if they are most of the window.
    pub(super) newest: Option<i32>,
}

impl WatchedHours {
    /// Chooses the windows by the numbers of results.
    pub(super) fn choose(counts: &CountedHours, scope: WatchScope, now: DateTime<Utc>) -> Self {
        let (last, end) = (hour_of(now), hour_of(now) + 1);
        let mut window = last - hours(scope.window.unwrap_or(WINDOW));
        let furthest = last - hours(scope.window.unwrap_or(LARGEST_WINDOW));
        let mut results = counts.results(window, end);
        while results < NEWEST_RESULTS && window > furthest {
            window -= 1;
            results += counts.results(window, window + 1);
        }
        let mut newest = end;
        let mut of_newest = 0;
        while of_newest < NEWEST_RESULTS && newest > window {
            newest -= 1;
            of_newest += counts.results(newest, newest + 1);
        }
        let before = match scope.against {
            WatchAgainst::Before(before) => window - hours(before),
            WatchAgainst::Marks => window,
        };
        Self {
            before,
            window,
            newest: (2 * of_newest <= results && newest > window).then_some(newest),
        }
    }
}

/// The whole hours of a time.
fn hours(time: TimeDelta) -> i32 {
    i32::try_from(time.num_hours()).unwrap_or(i32::MAX / 4)
}
