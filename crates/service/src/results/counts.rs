//! Counts of an account's results: in all, by day and by key, among millions.
//!
//! Results of the past are counted once. Their counts are kept by prism, day and key, with a *mark*
//! for each prism: the id up to which results are in the kept counts. A look adds the results after
//! the mark to what is kept, and moves the mark when it is more than an hour behind.
//!
//! **The hour.** The mark never comes nearer to the present than `OPEN`. An id begins with the
//! moment at which it was made, and a result that is saved with an id below the mark is never
//! counted. An id is made right before the result is saved, but a save may be tried again for half an
//! hour at most ([`RetryPolicy`](crate::RetryPolicy)), and the clocks of nodes may differ; together
//! that is less than an hour as long as clocks are less than half an hour apart.
//!
//! **Days** are those of UTC, by the moment in the id. It is the moment of saving but for a clock
//! that is set in between, and it is what the mark goes by, so that a result cannot be on a day that
//! is closed; besides, an index finds the results of a day by it without reading them.
//!
//! **Races.** The mark moves in one transaction with the counts, and only if it still is where it
//! was read. Of two nodes that look at once, one moves it; what the other counted is right for its
//! own look, and is not kept.
//!
//! **Deleting results.** Whatever deletes results takes those up to the mark off the kept counts, in
//! one transaction (`Database::forget_results`). A look that began before the deletion may have counted
//! results after the mark that are gone now, so the mark then becomes another id at the same place,
//! one that it never was before: the look does not find the mark as it was read, and keeps nothing.

mod tail;

use std::collections::HashMap;

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use refract_persistence::{KeyCount, NewCounts};

use self::tail::Tail;
use crate::InternalError;
use crate::results::Results;

/// Results younger than this are counted at each look.
const OPEN: TimeDelta = TimeDelta::hours(1);
/// A mark is moved when it can be moved by this much, so that looks in quick succession only read.
const STEP: TimeDelta = TimeDelta::hours(1);
/// Days that are told one by one, today included.
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
    /// Results in all.
    pub in_all: u64,
    /// Those of them that failed.
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
    /// Counts of nothing, for the days up to today.
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

    /// Results that a key made.
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
    /// The first look counts all results that there are; every other one those that came since.
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
        // before the kept counts: a mark that moves in between only moves on
        let uncounted = database.list_first_uncounted(account).await?;
        let since = counts.none.days.first().map(|first| first.day);
        let kept = database.list_kept_counts(account, since.unwrap_or_default());
        let mut marks = HashMap::new();
        for kept in kept.await? {
            marks.insert(kept.prism, kept.up_to);
            counts.add(kept.prism, kept.day, kept.count);
        }
        for (prism, first) in uncounted {
            let read_up_to = marks.get(&prism).copied().flatten();
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
