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
//! than an hour as long as clocks are less than half an hour apart. The present is what the database's
//! clock and the node's both say has passed, so that one clock that is ahead moves no watermark.
//!
//! **Days** are in UTC, in the stored sums by the moment of saving and after the watermark by the
//! moment in the id, for which an index is enough. The two moments are of one day, except around
//! midnight or when a clock is set in between.
//!
//! **Deleting results.** The stored sums keep what deleted results used, since it was paid for; the
//! sums of deleted results have it a second time, so that the difference is about results that are
//! still there. A result that is deleted before it was counted is added to both.
//!
//! **Who reads.** Counts, usage and budgets read these sums. Watching has counts of its own by hour,
//! two minutes behind, since an alarm cannot wait for an hour, and without results that are saved
//! later than that.
//!
//! **Races.** A count and a deletion lock the watermark before they read which results are counted,
//! so each result is in the stored sums once.
//!
//! **Rounds.** Counting is regular work of the nodes that serve. One node on a database counts at a time: the one that holds the lease.

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use chrono::{DateTime, Days, NaiveDate, NaiveTime, TimeDelta, Utc};
use futures_util::future::LocalBoxFuture;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use refract_persistence::{
    CountProgress, Database, KeyCount, PersistenceError, UncountedPrism, Watermark,
};

use crate::results::Results;
use crate::store::{ClockWarning, NodeLease, repeat_rounds};
use crate::{InternalError, Refract};

/// Results younger than this are counted at each read.
const OPEN: TimeDelta = TimeDelta::hours(1);
/// How long the last statements of a process that ends may take.
const LAST_STATEMENTS: Duration = Duration::from_secs(5);
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

#[boxed]
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
            let day = kept.day.and_then(NaiveDate::from_epoch_days);
            counts.add(kept.prism, day, kept.count);
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

/// The name of the lease.
const LEASE: &str = "counts";
/// The least age of a prism's first uncounted result beyond [`OPEN`], so that a busy prism is counted
/// a few times an hour.
const STEP: TimeDelta = TimeDelta::minutes(10);
/// Results that are counted in one transaction.
const PAGE: u32 = 10_000;

/// Counts results, in the background.
pub struct CountRounds {
    refract: Refract,
    lease: NodeLease,
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountOutcome {
    /// Another node counts.
    HeldByAnotherNode,
    /// The number of prisms whose results were counted.
    Counted(usize),
}

#[boxed]
impl Results<'_> {
    /// The background task, which counts nothing until it is run.
    pub fn count_rounds(self) -> CountRounds {
        CountRounds {
            refract: self.refract.clone(),
            lease: NodeLease::new(&self.refract.database, LEASE),
        }
    }

    /// Counts the results of an account that are old enough at a moment of the database's clock, without
    /// rests. Does nothing where a node counts in the background, and costs as little then as one read.
    ///
    /// # Errors
    /// When the database fails. What was counted by then stays counted.
    pub async fn count_now(
        self,
        account: AccountId,
        now: DateTime<Utc>,
    ) -> Result<(), InternalError> {
        let uncounted = self.refract.database.list_first_uncounted(account).await?;
        let is_due = |(_, first): &(PrismId, ResultId)| *first <= closed(now - STEP);
        if !uncounted.iter().any(is_due) {
            return Ok(());
        }
        for due in self.due(now).await? {
            if due.account == account {
                while self.count_page(due.prism, now).await? == CountProgress::More {}
            }
        }
        Ok(())
    }

    /// The prisms with uncounted results that are due at a moment.
    async fn due(self, now: DateTime<Utc>) -> Result<Vec<UncountedPrism>, InternalError> {
        let database = &self.refract.database;
        let (from, up_to) = (ResultId::LOWEST, closed(now - STEP));
        let uncounted = database.list_uncounted_prisms(Watermark::Counted, from, up_to);
        Ok(uncounted.await?)
    }

    async fn count_page(
        self,
        prism: PrismId,
        now: DateTime<Utc>,
    ) -> Result<CountProgress, InternalError> {
        let counting = self
            .refract
            .database
            .count_next_results(prism, closed(now), PAGE);
        Ok(counting.await?)
    }
}

#[boxed(local)]
impl CountRounds {
    /// Counts round after round, until it is dropped. Another node can take over when the lease
    /// expires.
    pub async fn run(self) -> Infallible {
        let database = self.refract.database.clone();
        let failed = "results could not be counted yet";
        let mut clock = ClockWarning::default();
        let round = async |now| {
            clock.compare(now, Utc::now());
            self.round(now).await
        };
        repeat_rounds(database, failed, round).await
    }

    /// Counts the results that are old enough at a moment of the database's clock, page by page with
    /// rests.
    ///
    /// # Errors
    /// When the database fails. The next round continues.
    pub async fn round(&self, now: DateTime<Utc>) -> Result<CountOutcome, InternalError> {
        let results = self.refract.results();
        let Some(mut held) = self.lease.take(now).await? else {
            return Ok(CountOutcome::HeldByAnotherNode);
        };
        let due = results.due(now).await?;
        for found in &due {
            loop {
                let page = Instant::now();
                if results.count_page(found.prism, now).await? == CountProgress::Done {
                    break;
                }
                if !held.is_kept_after_rest(page.elapsed()).await? {
                    return Ok(CountOutcome::HeldByAnotherNode);
                }
            }
        }
        Ok(CountOutcome::Counted(due.len()))
    }
}

/// The id up to which results are old enough to be counted at a moment of the database's clock.
fn closed(now: DateTime<Utc>) -> ResultId {
    ResultId::first_of(now.min(Utc::now()) - OPEN).just_before()
}

impl Refract {
    /// Counts results by day and answers by hour, looks at budgets, names the prisms of metrics and
    /// keeps what is learned about model servers, round after round until it is dropped. Boxed, so that
    /// it is compiled in this crate.
    pub fn work_in_rounds(&self) -> LocalBoxFuture<'_, Infallible> {
        // boxed, since the futures are large and moved before they run
        let watching = Box::pin(self.measures().watch_rounds().run());
        let counting = Box::pin(self.results().count_rounds().run());
        let budgets = Box::pin(self.budgets().rounds().run());
        let names = Box::pin(self.results().prism_names().run());
        let facts = Box::pin(self.keep_server_facts_in_rounds());
        Box::pin(async move {
            tokio::select! {
                never = facts => never,
                never = watching => never,
                never = counting => never,
                never = budgets => never,
                never = names => never,
            }
        })
    }

    /// Saves what no round has saved yet: when keys were last used, and what was learned about model
    /// servers. Gives up after a few seconds, since a process that ends does not wait for a database
    /// that does not answer.
    pub async fn save_last(&self) {
        let saving = async { tokio::join!(self.keys().save_uses(), self.keep_server_facts()) };
        if tokio::time::timeout(LAST_STATEMENTS, saving).await.is_err() {
            tracing::warn!(
                "the last uses of keys and what was learned about model servers are not saved: \
                 the database does not answer"
            );
        }
    }
}
