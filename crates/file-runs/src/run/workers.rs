//! The threads that ask the model about rows. Each thread owns its connections to the model.

use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use refract_domain::result::SavedResult;
use refract_service::CallError;
use refract_service::results::{AnsweredCall, BudgetShare, ReadableResult};
use refract_service::runs::{PinnedPrism, TextBegun, UnansweredRow};
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::{JoinSet, LocalSet};

use crate::run::settings::RunSettings;
use crate::run::tally::RunTally;

/// The niceness of threads that give way: about a tenth of the time that another thread gets.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// A row for a worker thread.
pub(crate) struct RunJob {
    pub(crate) line: u64,
    pub(crate) work: RowWork,
    pub(crate) reply: oneshot::Sender<Result<ReadableResult, CallError>>,
    /// Held while the row is in flight.
    pub(crate) permit: OwnedSemaphorePermit,
}

/// The work for a row.
pub(crate) enum RowWork {
    /// Create a result: the row has none.
    Create(UnansweredRow),
    /// Retry a failed result of an earlier run.
    Retry(Box<SavedResult>),
}

/// The worker threads. Dropping this lets each thread end after its rows in flight.
pub(crate) struct RunWorkers {
    senders: Vec<mpsc::UnboundedSender<RunJob>>,
    next: usize,
}

/// One worker thread.
struct RunWorker {
    prism: PinnedPrism,
    tally: Arc<RunTally>,
    share: Arc<BudgetShare>,
    /// Failures in a row from which the model counts as away.
    threshold: u64,
}

impl RunWorkers {
    /// Starts the threads. From `threshold` failures in a row, the model counts as away.
    pub(crate) fn start(
        settings: &RunSettings,
        prism: &PinnedPrism,
        tally: &Arc<RunTally>,
        share: &Arc<BudgetShare>,
        threshold: u64,
    ) -> std::io::Result<Self> {
        let threads = settings.threads.min(settings.concurrency);
        let gives_way = settings.gives_way;
        let mut senders = Vec::with_capacity(threads.get());
        for _ in 0..threads.get() {
            let (sender, jobs) = mpsc::unbounded_channel();
            let (prism, tally) = (prism.clone(), Arc::clone(tally));
            let share = Arc::clone(share);
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let thread = thread::Builder::new().name("refract-run".to_owned());
            thread.spawn(move || {
                if gives_way {
                    give_way();
                }
                LocalSet::new().block_on(&runtime, async move {
                    let prism = prism.for_this_thread(threads);
                    let worker = RunWorker {
                        prism,
                        tally,
                        share,
                        threshold,
                    };
                    Rc::new(worker).work(jobs).await;
                });
            })?;
            senders.push(sender);
        }
        Ok(Self { senders, next: 0 })
    }

    /// Gives a row to the next thread in turn.
    pub(crate) fn give(&mut self, job: RunJob) {
        self.next = (self.next + 1) % self.senders.len().max(1);
        if let Some(sender) = self.senders.get(self.next) {
            // a thread that has ended drops the job, which closes the reply's channel
            let _ = sender.send(job);
        }
    }
}

/// Lets other threads of the machine go first. What fails here costs them time, and the run nothing.
fn give_way() {
    // elsewhere the whole process would give way
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, NICENESS);
}

impl RunWorker {
    /// Works until the job channel is closed. The jobs' permits limit how many run concurrently.
    async fn work(self: Rc<Self>, mut jobs: mpsc::UnboundedReceiver<RunJob>) {
        let mut in_flight = JoinSet::new();
        while let Some(job) = jobs.recv().await {
            let worker = Rc::clone(&self);
            in_flight.spawn_local(async move { worker.work_on(job).await });
            while in_flight.try_join_next().is_some() {}
        }
        while in_flight.join_next().await.is_some() {}
    }

    async fn work_on(&self, job: RunJob) {
        let begun = self.tally.row_begun();
        let answered = match job.work {
            RowWork::Create(row) => self.prism.create(row).await,
            RowWork::Retry(failed) => self.prism.retry(*failed).await,
        };
        let answered = self.repeat(begun, job.line, answered).await;
        self.tally.row_ended();
        self.share.row_ended();
        drop(job.permit);
        // an interrupted run has closed the channel, but the result is saved
        let _ = job.reply.send(answered);
    }

    /// Retries a row whose result failed because the model's server takes fewer requests at a time or
    /// was held up, as long as the server answers other rows. The failures until then are saved
    /// results, but only the last result is the row's.
    async fn repeat(
        &self,
        mut begun: TextBegun,
        line: u64,
        mut answered: Result<AnsweredCall, CallError>,
    ) -> Result<ReadableResult, CallError> {
        let mut repeated = 0;
        loop {
            let AnsweredCall {
                result,
                report,
                repeatable,
            } = answered?;
            let error = result.view().status.error();
            self.share.row_asked(report.cost, error.is_none());
            let may_retry = || self.tally.may_retry(line, error, &report, self.threshold);
            match repeatable {
                Some(failed) if failed.failure.deserves_repetition(repeated) && may_retry() => {
                    repeated += 1;
                    begun = self.tally.row_begun();
                    answered = self.prism.retry(*failed.result).await;
                }
                Some(_) | None => {
                    self.tally.row_asked(begun, line, error, &report);
                    return Ok(result);
                }
            }
        }
    }
}
