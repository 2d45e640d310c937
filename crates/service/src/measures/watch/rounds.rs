//! Counts results by hour in the background, and looks at the prisms whose results were counted.
//!
//! One node on a database does so at a time: the one that holds the lease. If two count at once, no
//! result is counted twice (the watermark moves only from where it was read).

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::convert::Infallible;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_persistence::{UncountedPrism, Watermark};

use super::OPEN;
use super::hours::{CountedResults, Uncounted, count_closed, first_watched, hour_of};
use super::metrics::{PrismSeries, prism_labels};
use super::window_counts::WatchScope;
use crate::measures::Measures;
use crate::store::{HeldLease, NodeLease, repeat_rounds};
use crate::{InternalError, Refract};

/// The name of the lease.
const LEASE: &str = "watch";
/// Hours for which counts are kept: 400 days.
const KEPT_HOURS: i32 = 400 * 24;
/// The pause between two deletions of older counts.
const DELETION: Duration = Duration::from_hours(24);

/// Counts results and looks at prisms, in the background.
pub struct WatchRounds {
    refract: Refract,
    lease: NodeLease,
    /// The series of each prism; `None` while another node watches.
    series: Option<HashMap<PrismId, PrismSeries>>,
    deleted: Option<Instant>,
}

/// How a round ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchOutcome {
    /// Another node counts.
    HeldByAnotherNode,
    /// The number of results that were counted.
    Counted(u64),
}

impl Measures<'_> {
    /// The background task, which counts nothing until it is run.
    pub fn watch_rounds(self) -> WatchRounds {
        WatchRounds {
            refract: self.refract.clone(),
            lease: NodeLease::new(&self.refract.database, LEASE),
            series: None,
            deleted: None,
        }
    }
}

#[boxed(local)]
impl WatchRounds {
    /// Counts round after round, until it is dropped. Another node can take over when the lease
    /// expires.
    pub async fn run(mut self) -> Infallible {
        let database = self.refract.database.clone();
        let failed = "results could not be counted by hour yet";
        repeat_rounds(database, failed, async |now| self.round(now).await).await
    }

    /// Counts the results that are old enough at a moment. Looks at a prism when the first result of
    /// an hour, of a model or of a version was counted, which is about once an hour.
    ///
    /// # Errors
    /// When the database fails. The next round continues.
    pub async fn round(&mut self, now: DateTime<Utc>) -> Result<WatchOutcome, InternalError> {
        let database = self.refract.database.clone();
        let Some(mut held) = self.lease.take(now).await? else {
            self.refract.metrics.watch.clear();
            self.series = None;
            return Ok(WatchOutcome::HeldByAnotherNode);
        };
        if self.deleted.is_none_or(|at| at.elapsed() >= DELETION) {
            let kept = hour_of(now) - KEPT_HOURS;
            database.delete_watch_hours(kept).await?;
            self.deleted = Some(Instant::now());
        }
        let closed = ResultId::first_of(now - OPEN).just_before();
        let from = first_watched(now);
        let mut results = 0;
        let mut looked_at = Vec::new();
        let uncounted = database.list_uncounted_prisms(Watermark::Watched, from, closed);
        for found in uncounted.await? {
            let counting = self.count(found, closed, now, &mut held);
            let counted = match counting.await {
                // a row that cannot be read must not keep other prisms from being counted
                Err(InternalError::Persistence(error)) if !error.is_passing() => {
                    let prism = found.prism;
                    tracing::warn!(%error, %prism, "results of a prism cannot be counted by hour");
                    continue;
                }
                counted => counted?,
            };
            results += counted.results;
            if counted.has_first {
                looked_at.push((found.account, found.prism));
            }
        }
        if self.series.is_none() {
            looked_at = database.list_prisms_of_all_accounts().await?;
        }
        self.look(looked_at, now).await?;
        Ok(WatchOutcome::Counted(results))
    }

    async fn count(
        &self,
        found: UncountedPrism,
        closed: ResultId,
        now: DateTime<Utc>,
        held: &mut HeldLease<'_>,
    ) -> Result<CountedResults, InternalError> {
        let uncounted = Uncounted {
            prism: found.prism,
            from: first_watched(now),
            up_to: closed,
        };
        let goes_on = async |took: Duration| {
            let keeping = held.is_kept_after_rest(took);
            keeping.await.unwrap_or_default()
        };
        Ok(count_closed(&self.refract.database, uncounted, goes_on).await?)
    }

    /// Compares the last day of prisms with the time before, and exports what is found.
    async fn look(
        &mut self,
        prisms: Vec<(AccountId, PrismId)>,
        now: DateTime<Utc>,
    ) -> Result<(), InternalError> {
        let database = &self.refract.database;
        let series = self.series.get_or_insert_default();
        if prisms.is_empty() {
            return Ok(());
        }
        let accounts = database.list_accounts().await?;
        let names: HashMap<AccountId, String> =
            accounts.into_iter().map(|it| (it.id, it.name)).collect();
        for (account, prism) in prisms {
            let Some(history) = database.prism_history(prism).await? else {
                continue;
            };
            let measures = self.refract.measures();
            let looking = measures.watch_counted(&history, WatchScope::default(), now);
            let watch = looking.await?;
            if watch.results_now.results == 0 && !series.contains_key(&prism) {
                continue;
            }
            let account = names.get(&account).map_or("", String::as_str);
            let labels = prism_labels(account, &history.prism.slug);
            let earlier = series.remove(&prism).unwrap_or_default();
            let others = series.values().map(PrismSeries::len).sum();
            let metrics = &self.refract.metrics.watch;
            let set = metrics.set(&earlier, others, &labels, &watch);
            series.insert(prism, set);
        }
        Ok(())
    }
}
