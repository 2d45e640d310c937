//! The run: rows are read, looked up, asked about and written, each stage at its own pace.

use std::io::{self, Write};
use std::sync::Arc;

use refract_answering::{RunFacts, RunRows};
use refract_lens_rendering::RowFormat;
use tokio::sync::mpsc;

use crate::dispatch::Dispatch;
use crate::file_check::FileCheck;
use crate::file_run::FileRun;
use crate::finished_rows::{FinishedRow, RunSummary, hand_over};
use crate::run_output::RunOutput;
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
        format: RowFormat,
        out: &mut impl Write,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let mut output = RunOutput::new(&self.prism, format, out);
        if let Err(error) = output.write_header() {
            return RunSummary {
                stop: Some(RunStop::Output { line: 1, error }),
                ..RunSummary::default()
            };
        }
        let write = |row: FinishedRow| output.write(&row.result.view());
        let ended = self.run_each("run", settings, check, tally, write, stop);
        let summary = ended.await;
        RunSummary {
            columns: output.into_columns(),
            ..summary
        }
    }

    /// Asks about every row and gives each to `take`, in the order of the file. An event is saved before
    /// the first row, and one after the last.
    pub(crate) async fn run_each(
        &self,
        kind: &'static str,
        settings: RunSettings<'_>,
        check: &FileCheck,
        tally: &Arc<RunTally>,
        take: impl FnMut(FinishedRow) -> io::Result<()>,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let facts = RunFacts {
            kind,
            rows: check.rows,
            refused: check.refused,
        };
        if let Err(refusal) = self.prism.save_run_started(facts).await {
            return RunSummary {
                stop: Some(RunStop::Unrecorded { refusal }),
                ..RunSummary::default()
            };
        }
        let asking = self.ask_each(settings, check.rows_in_file, tally, take, stop);
        let mut summary = asking.await;
        let counts = tally.counts();
        let rows = RunRows {
            answered_before: counts.answered_before,
            answered: counts.ok,
            failed: counts.failed,
            is_stopped: summary.stop.is_some(),
        };
        if let Err(refusal) = self.prism.save_run_ended(facts, rows).await {
            summary.stop.get_or_insert(RunStop::Unrecorded { refusal });
        }
        summary
    }

    async fn ask_each(
        &self,
        settings: RunSettings<'_>,
        rows_in_file: u64,
        tally: &Arc<RunTally>,
        take: impl FnMut(FinishedRow) -> io::Result<()>,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let halt = Halt::new();
        let (queue, pending) = mpsc::channel(settings.concurrency.get() * 4 + 64);
        let dispatching = async {
            tokio::select! {
                biased;
                () = halt.stopped() => {}
                ended = Dispatch::all(self, settings, rows_in_file, tally, queue) => {
                    if let Err(reason) = ended {
                        halt.stop(reason);
                    }
                }
            }
        };
        let handing_over = hand_over(pending, tally, &halt, take);
        let working = async { tokio::join!(dispatching, handing_over).1 };
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
