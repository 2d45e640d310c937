//! The threads that ask: the model's connections belong to one each.

use std::num::NonZeroUsize;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use refract_domain::ids::PrismId;
use refract_domain::prism::{PrismVersion, VersionNumber};
use refract_domain::reference::IdempotencyKey;
use refract_domain::result::SavedResult;
use refract_model_gateway::ModelGateway;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::task::{JoinSet, LocalSet};

use super::row::RowContent;
use super::{FileRun, Tally};
use crate::api_keys::KeyUses;
use crate::ask::{Asked, Caller, Question};
use crate::{Answering, AnsweringMetrics, Refusal};

/// A row that is to be asked about.
pub(crate) struct Job {
    pub(crate) line: u64,
    pub(crate) key: IdempotencyKey,
    pub(crate) content: RowContent,
    /// The failed result of an earlier run, which is retried.
    pub(crate) failed: Option<SavedResult>,
    pub(crate) reply: oneshot::Sender<Result<SavedResult, Refusal>>,
    /// One of the calls that may be under way.
    pub(crate) turn: OwnedSemaphorePermit,
}

/// The threads. They end when this is dropped and what is under way has ended.
pub(crate) struct Workers {
    senders: Vec<mpsc::UnboundedSender<Job>>,
    next: usize,
}

/// What all rows of a run have in common, for one thread.
struct Worker {
    answering: Answering,
    caller: Caller,
    run: Arc<Shared>,
}

struct Shared {
    prism: PrismId,
    number: VersionNumber,
    version: Arc<PrismVersion>,
    tally: Arc<Tally>,
}

impl Workers {
    /// Starts so many threads.
    pub(crate) fn start(
        count: usize,
        run: &FileRun,
        gateway: &ModelGateway,
        tally: &Arc<Tally>,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            prism: run.prism.id,
            number: run.number,
            version: Arc::clone(&run.version),
            tally: Arc::clone(tally),
        });
        let caller = Caller {
            account: run.account,
            api_key: None,
        };
        let threads = NonZeroUsize::new(count).unwrap_or(NonZeroUsize::MIN);
        let mut senders = Vec::with_capacity(count);
        for _ in 0..count {
            let (sender, jobs) = mpsc::unbounded_channel();
            let parts = (run.database.clone(), gateway.clone(), Arc::clone(&shared));
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            let thread = thread::Builder::new().name("refract-run".to_owned());
            thread.spawn(move || {
                let (database, gateway, run) = parts;
                LocalSet::new().block_on(&runtime, async move {
                    let uses = KeyUses::default();
                    let metrics = AnsweringMetrics::default();
                    let database = database.for_this_thread(threads);
                    let answering = Answering::new(database, gateway.model(), uses, metrics);
                    let worker = Worker {
                        answering,
                        caller,
                        run,
                    };
                    Rc::new(worker).work(jobs).await;
                });
            })?;
            senders.push(sender);
        }
        Ok(Self { senders, next: 0 })
    }

    /// Gives a row to the next thread.
    pub(crate) fn give(&mut self, job: Job) {
        self.next = (self.next + 1) % self.senders.len().max(1);
        if let Some(sender) = self.senders.get(self.next) {
            // a thread that is gone drops the job, which whoever waits for its reply sees
            let _ = sender.send(job);
        }
    }
}

impl Worker {
    /// Works until there are no more jobs; how many at once is the giver's to say.
    async fn work(self: Rc<Self>, mut jobs: mpsc::UnboundedReceiver<Job>) {
        let mut under_way = JoinSet::new();
        while let Some(job) = jobs.recv().await {
            let worker = Rc::clone(&self);
            under_way.spawn_local(async move { worker.carry_out(job).await });
            while under_way.try_join_next().is_some() {}
        }
        while under_way.join_next().await.is_some() {}
    }

    async fn carry_out(&self, job: Job) {
        let Job {
            line, reply, turn, ..
        } = job;
        let asked = self.ask(job.key, job.content, job.failed).await;
        let saved = asked.map(|asked| {
            self.run.tally.row_asked(line, &asked.result, &asked.report);
            asked.result
        });
        drop(turn);
        // nobody waits any longer when the run was broken off: the result is saved
        let _ = reply.send(saved);
    }

    async fn ask(
        &self,
        key: IdempotencyKey,
        content: RowContent,
        failed: Option<SavedResult>,
    ) -> Result<Asked, Refusal> {
        let question = match failed {
            Some(failed) => self.answering.question_again(self.caller, failed).await?,
            None => Question {
                caller: self.caller,
                prism: self.run.prism,
                number: self.run.number,
                version: Arc::clone(&self.run.version),
                submission: content.submission,
                reference: content.reference,
                idempotency_key: Some(key),
                retry_of: None,
            },
        };
        self.answering.ask(question).await
    }
}
