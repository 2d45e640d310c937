//! The regular work of a node that serves: counting results.
//!
//! One node on a database counts at a time: the one that holds the lease.

use std::convert::Infallible;
use std::time::Instant;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::LocalBoxFuture;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_persistence::{CountProgress, UncountedPrism, Watermark};

use super::OPEN;
use crate::results::Results;
use crate::store::node_lease::{NodeLease, repeat_rounds};
use crate::{InternalError, Refract};

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

impl Results<'_> {
    /// The background task, which counts nothing until it is run.
    pub fn count_rounds(self) -> CountRounds {
        CountRounds {
            refract: self.refract.clone(),
            lease: NodeLease::new(&self.refract.database, LEASE),
        }
    }

    /// Counts the results of an account that are old enough at a moment, without rests. Does nothing
    /// where a node counts in the background, and costs as little then as one read.
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

impl CountRounds {
    /// Counts round after round, until it is dropped. Another node can take over when the lease
    /// expires.
    pub async fn run(self) -> Infallible {
        let database = self.refract.database.clone();
        let failed = "results could not be counted yet";
        repeat_rounds(database, failed, async |now| self.round(now).await).await
    }

    /// Counts the results that are old enough at a moment, page by page with rests.
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

/// The id up to which results are old enough to be counted at a moment.
fn closed(now: DateTime<Utc>) -> ResultId {
    ResultId::first_of(now - OPEN).just_before()
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
}
