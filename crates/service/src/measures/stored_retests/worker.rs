//! The loop of a node: looks for retests that no other node works on, and asks about their texts.

use std::num::NonZeroUsize;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use refract_domain::ids::NodeId;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};
use uuid::Uuid;

use super::leased_work::RetestWork;
use crate::Refract;
use crate::asking::AskingPace;
use crate::jobs::{KeptLease, term};

/// The pause before a node looks for a retest. A node that has one waits twice as long, so that a
/// node without any is faster.
const LOOK: Duration = Duration::from_secs(1);
/// How often old retests are looked for.
const SWEEP: Duration = Duration::from_hours(1);

/// Works on stored retests, two at a time, until it is stopped.
pub struct RetestWorker {
    refract: Refract,
    node: NodeId,
    pace: AskingPace,
}

impl RetestWorker {
    /// A worker without work, with an upper bound on the texts of a retest in flight.
    pub fn new(refract: &Refract, concurrency: NonZeroUsize) -> Self {
        Self {
            refract: refract.for_this_thread(None),
            node: NodeId::new(Uuid::now_v7()),
            pace: AskingPace {
                concurrency,
                gives_up: true,
            },
        }
    }

    /// Works until `stopped` becomes true or its sender is dropped. Then no text is begun, those in
    /// flight have the grace time to finish and to be saved, and the leases are released, so that
    /// other nodes go on at once. Boxed, so that it is compiled in this crate.
    pub fn run(
        self,
        stopped: watch::Receiver<bool>,
        grace: Duration,
    ) -> LocalBoxFuture<'static, ()> {
        Box::pin(async move {
            let mut stopping = stopped.clone();
            let working = async {
                tokio::join!(
                    self.work(LOOK, stopped.clone()),
                    self.work(LOOK * 2, stopped.clone()),
                    self.delete_old_regularly(stopped.clone()),
                );
            };
            let mut working = std::pin::pin!(working);
            tokio::select! {
                () = &mut working => return,
                // an error means that the server ended by itself
                _ = stopping.wait_for(|stops| *stops) => {}
            }
            if timeout(grace, working).await.is_err() {
                tracing::warn!(
                    "texts of a retest were still in flight: another node asks about them again"
                );
            }
        })
    }

    /// Works on one retest after another.
    async fn work(&self, pause: Duration, mut stopped: watch::Receiver<bool>) {
        while !has_stopped(&mut stopped, pause).await {
            let (now, until) = term();
            let database = &self.refract.database;
            match database.take_retest(self.node, &[], now, until).await {
                Ok(None) => {}
                Ok(Some(leased)) => {
                    let work = RetestWork {
                        refract: self.refract.clone(),
                        leased,
                        pace: self.pace,
                        held: KeptLease::new("a retest", stopped.clone()),
                    };
                    work.carry_out().await;
                }
                Err(error) => tracing::warn!(%error, "retests could not be looked for"),
            }
        }
    }

    async fn delete_old_regularly(&self, mut stopped: watch::Receiver<bool>) {
        loop {
            match self.refract.retests().delete_old().await {
                Ok(0) => {}
                Ok(retests) => tracing::info!(retests, "deleted old retests"),
                Err(error) => tracing::warn!(%error, "old retests could not be deleted yet"),
            }
            if has_stopped(&mut stopped, SWEEP).await {
                return;
            }
        }
    }
}

/// Whether the node stops within a pause.
async fn has_stopped(stopped: &mut watch::Receiver<bool>, pause: Duration) -> bool {
    tokio::select! {
        // an error means that the server ended by itself
        _ = stopped.wait_for(|stops| *stops) => true,
        () = sleep(pause) => false,
    }
}
