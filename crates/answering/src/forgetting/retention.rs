//! Purges results that are older than the operator wants to keep them, in the background.
//!
//! Of the nodes on a database one purges at a time: the one that holds the lease. Two that purge at
//! once, because their clocks differ or one hung for long, do no harm: each result is deleted once.

use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::NodeId;
use refract_persistence::{Database, PersistenceError, PurgeRange};
use uuid::Uuid;

use crate::caller::Caller;
use crate::forgetting::purge::Purge;
use crate::metrics::AnsweringMetrics;

/// The name of the lease.
const LEASE: &str = "retention";
/// How long a lease lasts that is not renewed: a node that died holds purging up for so long.
const TERM: TimeDelta = TimeDelta::minutes(3);
/// A round renews the lease when this much of its time has passed.
const RENEWAL: Duration = Duration::from_mins(1);
/// The pause between two rounds.
const ROUND: Duration = Duration::from_mins(1);
/// The pause after a batch, in times of what the batch took: at most a tenth of the time goes to
/// purging, so that calls keep the rest.
const REST: u32 = 9;

/// Purges results older than a number of days.
pub struct Retention {
    database: Database,
    days: NonZeroU32,
    metrics: AnsweringMetrics,
    node: NodeId,
}

impl Retention {
    /// Keeps results for this many days; nothing is purged yet.
    pub fn new(database: Database, days: NonZeroU32, metrics: AnsweringMetrics) -> Self {
        Self {
            database,
            days,
            metrics,
            node: NodeId(Uuid::now_v7()),
        }
    }

    /// Purges round after round until `stop` resolves. Then another node can take over at once.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut stop = std::pin::pin!(stop);
        loop {
            let round = async {
                match self.round(Utc::now()).await {
                    Ok(None | Some(0)) => {}
                    Ok(Some(results)) => {
                        tracing::info!(results, "purged results that are older than they are kept");
                    }
                    Err(error) => tracing::warn!(%error, "results could not be purged yet"),
                }
                tokio::time::sleep(ROUND).await;
            };
            tokio::select! {
                biased;
                () = &mut stop => break,
                () = round => {}
            }
        }
        if let Err(error) = self.database.release_lease(LEASE, self.node).await {
            tracing::debug!(%error, "the lease to purge results lasts until it expires");
        }
    }

    /// Purges what is too old at a moment, and returns the number of results; `None` when another
    /// node holds the lease.
    ///
    /// # Errors
    /// When the database fails. The next round goes on.
    pub async fn round(&self, now: DateTime<Utc>) -> Result<Option<u64>, PersistenceError> {
        if !self.take_lease(now).await? {
            return Ok(None);
        }
        let age = TimeDelta::days(self.days.get().into());
        let Some(before) = now.checked_sub_signed(age) else {
            return Ok(Some(0));
        };
        let began = Instant::now();
        let mut renewed = began;
        let mut purged = 0;
        for (account, prism) in self.database.list_prisms_of_all_accounts().await? {
            let range = PurgeRange {
                prism,
                before,
                is_ok: None,
            };
            let mut purge = Purge::new(&self.database, Caller::node(account), range);
            while let Some(batch) = purge.next_batch().await? {
                purged += batch.results;
                self.metrics.results_purged(batch.results);
                tokio::time::sleep(batch.took * REST).await;
                if renewed.elapsed() >= RENEWAL {
                    renewed = Instant::now();
                    let passed = TimeDelta::from_std(began.elapsed()).unwrap_or_default();
                    if !self.take_lease(now + passed).await? {
                        return Ok(Some(purged));
                    }
                }
            }
        }
        Ok(Some(purged))
    }

    async fn take_lease(&self, now: DateTime<Utc>) -> Result<bool, PersistenceError> {
        let until = now + TERM;
        self.database.take_lease(LEASE, self.node, now, until).await
    }
}
