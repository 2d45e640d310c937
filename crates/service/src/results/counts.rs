//! Counts of an account's results: in total, by day and by key, among millions.
//!
//! Older results are counted once, in the background. What they used is stored by prism, day, key,
//! person, file run and model, with a *watermark* for each prism: the id up to which results are in
//! the stored sums. Each read adds the results after the watermark to the stored sums.
//!
//! **The hour.** The watermark never comes nearer to the present than `OPEN`. An id begins with its
//! creation time, and a result that is saved with an id below the watermark is never counted. An id
//! is made right before the result is saved, but a save may be retried for half an hour at most
//! ([`RetryPolicy`](crate::RetryPolicy)), and the clocks of nodes may differ; together that is less
//! than an hour as long as clocks are less than half an hour apart.
//!
//! **Days** are in UTC, in the stored sums by the moment of saving and after the watermark by the
//! moment in the id, for which an index is enough. The two moments are of one day, except around
//! midnight or when a clock is set in between.
//!
//! **Deleting results.** The stored sums keep what deleted results used, since it was paid for; the
//! sums of deleted results have it a second time, so that the difference is about results that are
//! still there. A result that is deleted before it was counted is added to both.
//!
//! **Races.** A count and a deletion lock the watermark before they read which results are counted,
//! so each result is in the stored sums once.

mod rounds;

use std::collections::HashMap;

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use refract_persistence::{Database, KeyCount, PersistenceError};

pub use self::rounds::{CountOutcome, CountRounds};
use crate::InternalError;
use crate::results::Results;

/// Results younger than this are counted at each read.
const OPEN: TimeDelta = TimeDelta::hours(1);
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
    /// Reads the stored sums, and counts the results after the watermark: all of them in a database
    /// in which nothing was counted in the background yet.
    pub async fn counts(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<ResultCounts, InternalError> {
        let database = &self.refract.database;
        let mut counts = ResultCounts::up_to(now.date_naive());
        // before the stored sums: a watermark that moves in between only moves forward
        let uncounted = database.list_first_uncounted(account).await?;
        let since = counts.none.days.first().map(|first| first.day);
        let kept = database.list_kept_counts(account, since.unwrap_or_default());
        let mut watermarks = HashMap::new();
        for kept in kept.await? {
            watermarks.insert(kept.prism, kept.up_to);
            counts.add(kept.prism, kept.day, kept.count);
        }
        for (prism, first) in uncounted {
            let watermark = watermarks.get(&prism).copied().flatten();
            let first = watermark.map_or(first, |watermark| first.max(watermark.just_after()));
            for (day, count) in count_tail(database, prism, first).await? {
                counts.add(prism, Some(day), count);
            }
        }
        Ok(counts)
    }
}

/// Counts the results of a prism from `first` on, by day and key.
///
/// A day without results costs nothing: the next day to be counted is that of the next result.
async fn count_tail(
    database: &Database,
    prism: PrismId,
    first: ResultId,
) -> Result<Vec<(NaiveDate, KeyCount)>, PersistenceError> {
    let mut tail = Vec::new();
    let mut next = Some(first);
    while let Some(begin) = next {
        let day = begin.moment().date_naive();
        let last = last_of(day);
        let counting = database.count_results_by_key(prism, begin.just_before(), last);
        tail.extend(counting.await?.into_iter().map(|count| (day, count)));
        next = database.find_first_result(prism, last).await?;
    }
    Ok(tail)
}

/// The id after every result of a day and before the results of the next one.
fn last_of(day: NaiveDate) -> ResultId {
    let next = day.checked_add_days(Days::new(1));
    next.map_or(ResultId::HIGHEST, |next| {
        let begin: DateTime<Utc> = next.and_time(NaiveTime::MIN).and_utc();
        ResultId::first_of(begin).just_before()
    })
}
