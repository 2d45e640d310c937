//! The run: rows are read, looked up, asked about and written, each stage at its own pace.

use std::io::Write;
use std::sync::Arc;

use tokio::sync::mpsc;

use crate::dispatch::Dispatch;
use crate::file_check::FileCheck;
use crate::file_run::FileRun;
use crate::run_output::{RunOutput, RunSummary};
use crate::run_settings::RunSettings;
use crate::run_stop::{Halt, RunStop};
use crate::run_tally::RunTally;

impl FileRun {
    /// Asks about every row of the shard that has no answer, retries failed rows, and writes all
    /// results in the order of the file. The file has to be unchanged since `check`.
    ///
    /// After `stop` no further row begins. Rows in flight are finished, saved and written, whatever
    /// the reason for the stop.
    pub async fn run(
        &self,
        settings: RunSettings<'_>,
        check: &FileCheck,
        tally: &Arc<RunTally>,
        out: &mut impl Write,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
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
        let writing = async {
            let output = RunOutput::new(&self.prism, settings.format, out);
            output.write_all(pending, tally, &halt).await
        };
        let working = async { tokio::join!(dispatching, writing).1 };
        let stopping = async {
            stop.await;
            halt.stop(RunStop::Asked);
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
