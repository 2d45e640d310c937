//! The run itself: rows are read, looked up, asked about and written, each at its own pace.

use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;

use refract_lens_rendering::RowFormat;
use refract_model_gateway::ModelGateway;
use tokio::sync::mpsc;

use super::dispatch::Dispatch;
use super::distribution::Distribution;
use super::stop::{Halt, Stop};
use super::{Check, FileRun, Tally};

/// Whom a run asks, how hard it works, and what it writes.
#[derive(Clone, Copy)]
pub struct RunSettings<'a> {
    /// The way to the model.
    pub gateway: &'a ModelGateway,
    /// Calls to the model at once.
    pub concurrency: NonZeroUsize,
    /// Threads that ask.
    pub threads: NonZeroUsize,
    /// Whether it stops when the model fails again and again.
    pub gives_up: bool,
    /// How rows are written.
    pub format: RowFormat,
}

/// How a run ended.
#[derive(Debug)]
pub struct Summary {
    /// Why it ended early, if it did.
    pub stop: Option<Stop>,
    /// Rows of the output.
    pub written: u64,
    /// Errors of failed rows of the output with how many have them, the most frequent first.
    pub failures: Vec<(String, u64)>,
    /// What stands in each column of the output.
    pub distributions: Vec<Distribution>,
}

impl FileRun {
    /// Asks about every row of the shard that has no answer, retries failed ones, and writes all
    /// results in the order of the file. The file has to be as it was when it
    /// was checked.
    ///
    /// When `stop` ends, no further row is begun; those that are under way are finished, saved and
    /// written, whatever the reason to stop.
    pub async fn run(
        &self,
        settings: RunSettings<'_>,
        check: &Check,
        tally: &Arc<Tally>,
        out: &mut impl Write,
        stop: impl Future<Output = ()>,
    ) -> Summary {
        let halt = Halt::new();
        let (queue, pending) = mpsc::channel(settings.concurrency.get() * 4 + 64);
        let dispatching = async {
            tokio::select! {
                biased;
                () = halt.stopped() => {}
                ended = Dispatch::all(self, settings, check.rows_in_file, tally, queue) => {
                    if let Err(reason) = ended {
                        halt.stop(reason);
                    }
                }
            }
        };
        let writing = self.write(settings.format, out, pending, tally, &halt);
        let working = async { tokio::join!(dispatching, writing).1 };
        let stopping = async {
            stop.await;
            halt.stop(Stop::Asked);
            std::future::pending().await
        };
        let mut summary = tokio::select! {
            summary = working => summary,
            never = stopping => never,
        };
        summary.stop = halt.take();
        summary
    }
}
