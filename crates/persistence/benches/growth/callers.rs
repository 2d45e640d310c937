//! Threads with a runtime and connections each, as the workers of a node, for the whole benchmark.

use std::num::NonZeroUsize;
use std::sync::mpsc;
use std::thread;

use refract_persistence::Database;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;

const THREADS: NonZeroUsize = NonZeroUsize::new(2).unwrap();

type Job = Box<dyn FnOnce(&Runtime, &Database) + Send>;

/// The threads of one database; they end with this value.
pub(crate) struct Callers(Vec<mpsc::Sender<Job>>);

impl Callers {
    pub(crate) fn new(database: &Database) -> Self {
        let start = |_| {
            let (send, jobs) = mpsc::channel::<Job>();
            let database = database.for_this_thread(THREADS);
            thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build()
                    .unwrap();
                for job in jobs {
                    job(&runtime, &database);
                }
            });
            send
        };
        Self((0..THREADS.get()).map(start).collect())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Runs something in every thread, inside its runtime, and waits for all.
    pub(crate) async fn run<T, W, F>(&self, work: impl Fn(usize) -> W) -> Vec<T>
    where
        T: Send + 'static,
        W: FnOnce(Database) -> F + Send + 'static,
        F: Future<Output = T>,
    {
        let ending: Vec<_> = self
            .0
            .iter()
            .enumerate()
            .map(|(thread, jobs)| {
                let (tell, ended) = oneshot::channel();
                let work = work(thread);
                let job = Box::new(move |runtime: &Runtime, database: &Database| {
                    let database = database.clone();
                    let done = runtime.block_on(async { work(database).await });
                    assert!(tell.send(done).is_ok());
                });
                jobs.send(job).unwrap();
                ended
            })
            .collect();
        let mut all = Vec::new();
        for ended in ending {
            all.push(ended.await.unwrap());
        }
        all
    }
}
