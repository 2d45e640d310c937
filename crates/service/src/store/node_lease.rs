//! Rounds of work that one node at a time does for all nodes on a database: the one that holds the
//! lease of that work.

use std::convert::Infallible;
use std::fmt::Display;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::ids::NodeId;
use refract_persistence::{Database, PersistenceError};
use uuid::Uuid;

/// How long a lease lasts without renewal: after a node died, nobody does its work for this long.
const TERM: TimeDelta = TimeDelta::minutes(3);
/// The age at which a lease is renewed.
const RENEWAL: Duration = Duration::from_mins(1);
/// The pause after a page of work, as a multiple of the page's time: at most a fifth of the time goes
/// to such work, the rest to calls.
const REST: u32 = 4;
/// The pause between two rounds.
pub(crate) const ROUND: Duration = Duration::from_mins(1);

/// A node's claim to the lease of some work. Nothing is taken until a round asks for it.
pub(crate) struct NodeLease {
    database: Database,
    /// The name of the work, the same on all nodes.
    name: &'static str,
    node: NodeId,
}

/// A lease that this node holds during a round.
pub(crate) struct HeldLease<'a> {
    lease: &'a NodeLease,
    /// The moment of the round, and when it was.
    now: DateTime<Utc>,
    began: Instant,
    renewed: Instant,
}

/// Does rounds, each at a moment of the database's clock, until it is dropped; another node can take
/// over when the lease expires. `failed` is logged when a round fails.
pub(crate) async fn repeat_rounds<T, E>(
    database: Database,
    failed: &'static str,
    mut round: impl AsyncFnMut(DateTime<Utc>) -> Result<T, E>,
) -> Infallible
where
    E: Display + From<PersistenceError>,
{
    loop {
        // a node that starts has other things to do
        tokio::time::sleep(ROUND).await;
        let done = match database.time(Utc::now()).await {
            Ok(now) => round(now).await,
            Err(error) => Err(error.into()),
        };
        if let Err(error) = done {
            tracing::warn!(%error, "{failed}");
        }
    }
}

impl NodeLease {
    pub(crate) fn new(database: &Database, name: &'static str) -> Self {
        Self {
            database: database.clone(),
            name,
            node: NodeId::new(Uuid::now_v7()),
        }
    }

    /// Takes the lease at a moment of the database's clock; `None` while another node holds it.
    pub(crate) async fn take(
        &self,
        now: DateTime<Utc>,
    ) -> Result<Option<HeldLease<'_>>, PersistenceError> {
        let began = Instant::now();
        let held = HeldLease {
            lease: self,
            now,
            began,
            renewed: began,
        };
        Ok(self.is_taken(now).await?.then_some(held))
    }

    /// Releases the lease if this node holds it, so that another node can take it at once.
    pub(crate) async fn release(&self) -> Result<(), PersistenceError> {
        self.database.release_lease(self.name, self.node).await
    }

    async fn is_taken(&self, now: DateTime<Utc>) -> Result<bool, PersistenceError> {
        let until = now + TERM;
        let taking = self.database.take_lease(self.name, self.node, now, until);
        taking.await
    }
}

impl HeldLease<'_> {
    /// The moment of the database's clock now, from that of the round.
    pub(crate) fn now(&self) -> DateTime<Utc> {
        self.now + TimeDelta::from_std(self.began.elapsed()).unwrap_or_default()
    }

    /// Pauses after a page of work that took some time, then renews the lease when that is due.
    /// Returns `false` when another node has it.
    pub(crate) async fn is_kept_after_rest(
        &mut self,
        took: Duration,
    ) -> Result<bool, PersistenceError> {
        tokio::time::sleep(took * REST).await;
        self.is_kept().await
    }

    /// Renews the lease when that is due. Returns `false` when another node has it.
    pub(crate) async fn is_kept(&mut self) -> Result<bool, PersistenceError> {
        if self.renewed.elapsed() < RENEWAL {
            return Ok(true);
        }
        self.renewed = Instant::now();
        self.lease.is_taken(self.now()).await
    }
}
