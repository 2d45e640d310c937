//! Works on the runs that people start in the app: takes the lease of a stored run, reads the
//! uploaded file, asks, and saves how far it came.
//!
//! Any node may work on any run, and nothing that a run needs lives on one node. A node that dies
//! stops renewing its leases; another node takes them and goes on after the last row up to which
//! every row is finished. Rows beyond it that are answered already are found by their idempotency
//! keys, as in a run from a terminal that is started again.

mod ended_work;
mod leased_work;
pub(crate) mod progress;

use refract_boxed_futures::boxed;
use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use chrono::TimeDelta;
use refract_domain::ids::{FileRunId, NodeId};
use refract_service::Refract;
use refract_service::jobs::KeptLease;
use tokio::sync::{Semaphore, watch};
use tokio::task::{self, JoinError, JoinHandle, JoinSet};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::input::WorkbookBudget;
use crate::worker::leased_work::LeasedWork;

/// Upper bound on the rows in flight at the model on one node, of all its runs together, unless the
/// model takes fewer requests. `refract run` has the same default.
pub const RUN_CONCURRENCY: NonZeroUsize = match NonZeroUsize::new(32) {
    Some(rows) => rows,
    None => NonZeroUsize::MIN,
};
/// Upper bound on the runs that a node works on at once.
const MOST_RUNS: usize = 4;
/// The pause before a node looks for another run. It grows with the runs that the node has, so
/// that a node with fewer runs is faster.
const LOOK: Duration = Duration::from_secs(1);
/// How often old uploads are looked for.
const SWEEP: Duration = Duration::from_hours(1);

/// The limits of a node's work on runs.
#[derive(Clone, Copy, Debug)]
pub struct WorkerSettings {
    /// Upper bound on the rows in flight at the model, of all runs of the node together.
    pub concurrency: NonZeroUsize,
    /// How long an uploaded file is kept.
    pub keep_uploads: TimeDelta,
}

/// Works on stored runs until it is stopped.
pub struct FileRunWorker {
    refract: Refract,
    node: NodeId,
    settings: WorkerSettings,
    workbooks: WorkbookBudget,
    /// One permit for each row in flight.
    permits: Arc<Semaphore>,
    works: JoinSet<()>,
    held: HashMap<task::Id, FileRunId>,
}

/// A worker whose task was started.
pub struct StartedWorker {
    task: JoinHandle<()>,
    concurrency: NonZeroUsize,
    /// Those of the worker.
    permits: Arc<Semaphore>,
}

#[boxed]
impl StartedWorker {
    /// Waits until the stopped worker has finished its rows in flight and released its leases, for
    /// at most this time.
    pub async fn ended(self, grace: Duration) {
        if tokio::time::timeout(grace, self.task).await.is_ok() {
            return;
        }
        if self.permits.available_permits() < self.concurrency.get() {
            tracing::warn!(
                "rows of a file run were still in flight: another node asks about them again"
            );
        } else {
            tracing::warn!("file runs were still looked for: the database does not answer");
        }
    }
}

impl FileRunWorker {
    /// A worker without work, which reads workbooks within this budget.
    pub fn new(refract: Refract, settings: WorkerSettings, workbooks: WorkbookBudget) -> Self {
        Self {
            refract,
            node: NodeId::new(Uuid::now_v7()),
            settings,
            workbooks,
            permits: Arc::new(Semaphore::new(settings.concurrency.get())),
            works: JoinSet::new(),
            held: HashMap::new(),
        }
    }

    /// Starts a task that works until `stopped` becomes true or its sender is dropped.
    pub fn start(self, mut stopped: watch::Receiver<bool>) -> StartedWorker {
        let concurrency = self.settings.concurrency;
        let permits = Arc::clone(&self.permits);
        let task = tokio::spawn(self.run(async move {
            // a server that ended by itself ends the task too
            let _ = stopped.wait_for(|is_stopping| *is_stopping).await;
        }));
        StartedWorker {
            task,
            concurrency,
            permits,
        }
    }

    /// Works until `stop` resolves. Then no row is begun, the rows in flight are finished and
    /// saved, and the leases are released, so that other nodes go on at once.
    async fn run(mut self, stop: impl Future<Output = ()>) {
        let (stopping, stopped) = watch::channel(false);
        let mut stop = std::pin::pin!(stop);
        let mut sweep = Instant::now();
        let changes = self.refract.clone();
        loop {
            let pause = self.pause();
            tokio::select! {
                () = &mut stop => break,
                Some(ended) = self.works.join_next_with_id() => self.ended(&ended),
                () = sleep(pause) => self.look(&stopped).await,
                // a node with work leaves the run to those without
                () = changes.runs().changed(), if self.held.is_empty() => self.look(&stopped).await,
            }
            if sweep <= Instant::now() {
                self.delete_old_uploads().await;
                sweep = Instant::now() + SWEEP;
            }
        }
        let _ = stopping.send(true);
        while let Some(ended) = self.works.join_next_with_id().await {
            self.ended(&ended);
        }
    }

    fn pause(&self) -> Duration {
        let runs = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        LOOK.saturating_mul(runs.saturating_add(1))
    }

    /// Takes a run that needs a node, if there is one and this node has room for it.
    async fn look(&mut self, stopped: &watch::Receiver<bool>) {
        if self.held.len() >= MOST_RUNS {
            return;
        }
        let held: Vec<_> = self.held.values().copied().collect();
        let runs = self.refract.runs();
        match runs.take_file_run(self.node, &held).await {
            Ok(None) => {}
            Ok(Some(leased)) => {
                let id = leased.run.id;
                let work = LeasedWork {
                    refract: self.refract.clone(),
                    leased,
                    permits: Arc::clone(&self.permits),
                    concurrency: self.settings.concurrency,
                    workbooks: self.workbooks.clone(),
                    held: KeptLease::new("a file run", stopped.clone()),
                };
                let task = self.works.spawn(work.carry_out());
                self.held.insert(task.id(), id);
            }
            Err(error) => tracing::warn!(%error, "file runs could not be looked for"),
        }
    }

    fn ended(&mut self, ended: &Result<(task::Id, ()), JoinError>) {
        let id = match ended {
            Ok((id, ())) => *id,
            Err(error) => error.id(),
        };
        let run = self.held.remove(&id);
        if let (Some(run), Err(error)) = (run, ended) {
            // the lease expires, and a node takes the run again
            tracing::error!(%run, %error, "the work on a file run broke off");
        }
    }

    async fn delete_old_uploads(&self) {
        let runs = self.refract.runs();
        match runs.delete_old_uploads(self.settings.keep_uploads).await {
            Ok(0) => {}
            Ok(uploads) => tracing::info!(
                uploads,
                "deleted uploaded files that are older than they are kept"
            ),
            Err(error) => tracing::warn!(%error, "old uploaded files could not be deleted yet"),
        }
    }
}
