//! Counts of an account's results: in total, by day and by key, among millions.
//!
//! Older results are counted once. Their counts are stored by prism, day and key, with a
//! *watermark* for each prism: the id up to which results are in the stored counts. Each read adds
//! the results after the watermark to the stored counts, and moves the watermark when it is more
//! than an hour behind.
//!
//! **The hour.** The watermark never comes nearer to the present than `OPEN`. An id begins with its
//! creation time, and a result that is saved with an id below the watermark is never counted. An id
//! is made right before the result is saved, but a save may be retried for half an hour at most
//! ([`RetryPolicy`](crate::RetryPolicy)), and the clocks of nodes may differ; together that is less
//! than an hour as long as clocks are less than half an hour apart.
//!
//! **Days** are in UTC, by the moment in the id. That moment equals the moment of saving unless a
//! clock is set in between. The watermark goes by it too, so no result can be added to a closed
//! day; besides, an index finds the results of a day by it without reading them.
//!
//! **Races.** The watermark moves in one transaction with the counts, and only if it still is where
//! it was read. Of two nodes that read at once, one moves it; the other's counts are right for its
//! own read, and are not stored.
//!
//! **Deleting results.** Every deletion subtracts the results up to the watermark from the stored
//! counts, in one transaction (`Database::delete_results`). A read that began before the deletion
//! may have counted results after the watermark that are gone now. So the deletion also replaces
//! the watermark with an equivalent id that it never had before: the read finds the watermark
//! changed, and stores nothing.

mod tail;

use std::collections::HashMap;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use refract_persistence::{KeyCount, NewCounts};

use self::tail::Tail;
use crate::InternalError;
use crate::results::Results;

/// Results younger than this are counted at each read.
const OPEN: TimeDelta = TimeDelta::hours(1);
/// Minimum advance of a watermark, so that reads in quick succession write nothing.
const STEP: TimeDelta = TimeDelta::hours(1);
/// Days that are counted one by one, today included.
pub const DAYS: usize = 7;

/// Numbers of an account's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultCounts {
    prisms: HashMap<PrismId, PrismCounts>,
    keys: HashMap<ApiKeyId, u64>,
    none: PrismCounts,
}

/// Numbers of a prism's results.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrismCounts {
    /// Results in total.
    pub in_all: u64,
    /// Failed results in total.
    pub failed_in_all: u64,
    /// The last seven days, oldest first, the last one today.
    pub days: [DayCount; DAYS],
}

/// Numbers of results of one day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DayCount {
    /// The day in UTC.
    pub day: NaiveDate,
    /// Number of `ok` results.
    pub ok: u64,
    /// Number of `failed` results.
    pub failed: u64,
}

impl PrismCounts {
    /// Results of the last seven days.
    pub fn in_last_days(&self) -> u64 {
        self.days.iter().map(|day| day.ok + day.failed).sum()
    }

    fn add(&mut self, day: Option<NaiveDate>, count: KeyCount) {
        self.in_all += count.ok + count.failed;
        self.failed_in_all += count.failed;
        let mut days = self.days.iter_mut();
        if let Some(of_day) = days.find(|of_day| Some(of_day.day) == day) {
            of_day.ok += count.ok;
            of_day.failed += count.failed;
        }
    }
}

impl ResultCounts {
    /// Zero counts, for the days up to today.
    fn up_to(today: NaiveDate) -> Self {
        let mut none = PrismCounts::default();
        for (ago, day) in (0..).zip(none.days.iter_mut().rev()) {
            day.day = today.checked_sub_days(Days::new(ago)).unwrap_or_default();
        }
        Self {
            none,
            ..Self::default()
        }
    }

    /// The numbers of a prism; zeros for a prism without results.
    pub fn of_prism(&self, prism: PrismId) -> &PrismCounts {
        self.prisms.get(&prism).unwrap_or(&self.none)
    }

    /// Number of results that a key made.
    pub fn of_key(&self, key: ApiKeyId) -> u64 {
        self.keys.get(&key).copied().unwrap_or_default()
    }

    fn add(&mut self, prism: PrismId, day: Option<NaiveDate>, count: KeyCount) {
        let of_prism = self.prisms.entry(prism);
        of_prism
            .or_insert_with(|| self.none.clone())
            .add(day, count);
        if let Some(key) = count.api_key {
            *self.keys.entry(key).or_default() += count.ok + count.failed;
        }
    }
}

impl Results<'_> {
    /// Counts the results of an account's prisms, archived ones included, at a moment.
    ///
    /// The first read counts all results; later reads count only the results after the watermark.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn counts(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<ResultCounts, InternalError> {
        let database = &self.refract.database;
        let mut counts = ResultCounts::up_to(now.date_naive());
        let closed = ResultId::first_of(now - OPEN).just_before();
        // before the stored counts: a watermark that moves in between only moves forward
        let uncounted = database.list_first_uncounted(account).await?;
        let since = counts.none.days.first().map(|first| first.day);
        let kept = database.list_kept_counts(account, since.unwrap_or_default());
        let mut watermarks = HashMap::new();
        for kept in kept.await? {
            watermarks.insert(kept.prism, kept.up_to);
            counts.add(kept.prism, kept.day, kept.count);
        }
        for (prism, first) in uncounted {
            let read_up_to = watermarks.get(&prism).copied().flatten();
            let tail = Tail::count(database, prism, read_up_to, first, closed).await?;
            for (day, count) in tail.closed.iter().chain(&tail.open) {
                counts.add(prism, Some(*day), *count);
            }
            let is_due =
                read_up_to.is_none_or(|read_up_to| closed.moment() - read_up_to.moment() >= STEP);
            if is_due && !tail.closed.is_empty() {
                let new = NewCounts {
                    prism,
                    read_up_to,
                    up_to: closed,
                    counts: tail.closed,
                };
                database.keep_counts(new).await?;
            }
        }
        Ok(counts)
    }
}
