//! Watching: what changed in a prism's answers without anybody's doing, in a window of time against
//! an earlier one or the marked sample.
//!
//! Results are counted by hour, once each ([`count_closed`]); a window's counts are the sum of its
//! hours and of the newest results, which are read. Every question is compared over the versions
//! that word it like the latest one: another wording may change the answers, as it should.

mod cutoff_check;
mod hours;
mod metrics;
mod prism_watch;
mod rounds;
mod scope;
mod uncounted;
mod window_counts;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::ResultId;
use refract_persistence::PrismHistory;

pub use self::cutoff_check::CutoffCheck;
use self::hours::{CountedHours, hour_of};
pub(crate) use self::metrics::WatchMetrics;
pub use self::prism_watch::{Occurrence, PrismWatch, WatchedAnswers};
pub use self::rounds::{WatchOutcome, WatchRounds};
use self::scope::WatchedHours;
pub use self::scope::{WatchAgainst, WatchScope};
use self::uncounted::{Uncounted, add_open, count_closed, first_watched};
pub use self::window_counts::ComparedPeriod;
use self::window_counts::WindowCounts;
use crate::InternalError;
use crate::measures::Measures;

/// Results younger than this are read at each look. A result that is saved later than this after its
/// id was made, by a node whose clock is behind or after a database was away, may not be counted.
const OPEN: TimeDelta = TimeDelta::minutes(2);

impl Measures<'_> {
    /// Compares the answers of a prism in a window of time with earlier ones, at a moment.
    ///
    /// Counts the results that are not counted yet, which takes long at the first look at a prism
    /// with many results; later looks read stored counts. Where nothing can be written, every look
    /// takes as long.
    pub async fn watch(
        self,
        history: &PrismHistory,
        scope: WatchScope,
        now: DateTime<Utc>,
    ) -> Result<PrismWatch, InternalError> {
        let database = &self.refract.database;
        let uncounted = Uncounted {
            prism: history.prism.id,
            from: first_watched(now),
            up_to: ResultId::first_of(now - OPEN).just_before(),
        };
        if let Err(error) = count_closed(database, uncounted, async |_| true).await {
            // a standby, or a user who may only read: what is not counted is read below
            tracing::debug!(%error, "results could not be counted by hour");
        }
        let kept = scope.stored(database, history.prism.id, now).await?;
        let mut hours = CountedHours::of_rows(kept.hours)?;
        let first = scope.first_result(now);
        let open = Uncounted {
            prism: history.prism.id,
            from: kept.up_to.unwrap_or(first).max(first),
            up_to: ResultId::HIGHEST,
        };
        add_open(database, open, &mut hours).await?;
        self.compare_windows(history, &hours, scope, now).await
    }

    /// Compares as [`Measures::watch`] does, but only results that are counted already: nodes count
    /// them within minutes. It takes milliseconds, however many results there are.
    pub async fn watch_counted(
        self,
        history: &PrismHistory,
        scope: WatchScope,
        now: DateTime<Utc>,
    ) -> Result<PrismWatch, InternalError> {
        let database = &self.refract.database;
        let kept = scope.stored(database, history.prism.id, now).await?;
        let hours = CountedHours::of_rows(kept.hours)?;
        self.compare_windows(history, &hours, scope, now).await
    }

    async fn compare_windows(
        self,
        history: &PrismHistory,
        hours: &CountedHours,
        scope: WatchScope,
        now: DateTime<Utc>,
    ) -> Result<PrismWatch, InternalError> {
        let database = &self.refract.database;
        let watched = WatchedHours::choose(hours, scope, now);
        let end = hour_of(now) + 1;
        let count = |from, to| WindowCounts::of_hours(history, hours, from, to);
        let window = count(watched.window, end);
        let newest = watched.newest.map(|newest| count(newest, end));
        let before = match scope.against {
            WatchAgainst::Before(_) => count(watched.before, watched.window),
            WatchAgainst::Marks => WindowCounts::of_marks(database, history).await?,
        };
        let prism = history.prism.id;
        let revisions = database.list_lens_revisions(prism, MOST_REVISIONS).await?;
        Ok(PrismWatch::compare(
            history, window, newest, before, &revisions, now,
        ))
    }
}

/// The newest states of a lens that are looked at.
const MOST_REVISIONS: u32 = 200;
