//! The run: rows are read, looked up, asked about and written, each stage at its own pace.

use std::io::{self, Write};
use std::sync::Arc;

use refract_lens_rendering::RowFormat;
use tokio::sync::mpsc;

use crate::dispatch::Dispatch;
use crate::file_check::FileCheck;
use crate::file_run::FileRun;
use crate::finished_rows::{FinishedRow, RunSummary, hand_over};
use crate::refused_rows::{ListedRow, RefusedRows};
use crate::row_chunks::RowChunks;
use crate::run_output::RunOutput;
use crate::run_settings::RunSettings;
use crate::run_stop::{Halt, RunStop};
use crate::run_tally::RunTally;

/// What a run writes.
pub struct RunFiles<'a> {
    /// The format of the rows.
    pub format: RowFormat,
    /// Where the rows go.
    pub rows: &'a mut dyn Write,
    /// Where refused rows are listed as CSV: `line`, `reason`, then the row's own cells.
    pub refused: Option<&'a mut dyn Write>,
}

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
        files: RunFiles<'_>,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let mut output = RunOutput::new(&self.prism, files.format, files.rows);
        let mut refused = RefusedRows::new(files.refused, &check.columns);
        let written = output.write_header();
        if let Err(error) = written.and_then(|()| refused.write_header()) {
            return RunSummary {
                stop: Some(RunStop::Output { line: 1, error }),
                ..RunSummary::default()
            };
        }
        let rows = RowChunks::read(self, check.rows_in_file, refused.columns());
        let write = |row: FinishedRow| output.write(&row.result.view());
        let list = |row: ListedRow| refused.write(&row);
        let summary = self
            .run_each(settings, rows, tally, write, list, stop)
            .await;
        RunSummary {
            columns: output.into_columns(),
            ..summary
        }
    }

    /// Asks about every row and gives each to `take`, in the order of the file, and each refused one
    /// to `list`.
    pub(crate) async fn run_each(
        &self,
        settings: RunSettings<'_>,
        rows: RowChunks,
        tally: &Arc<RunTally>,
        take: impl FnMut(FinishedRow) -> io::Result<()>,
        list: impl FnMut(ListedRow) -> io::Result<()>,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let halt = Halt::new();
        let (queue, pending) = mpsc::channel(settings.concurrency.get() * 4 + 64);
        let dispatching = async {
            tokio::select! {
                biased;
                () = halt.stopped() => {}
                ended = Dispatch::all(self, settings, rows, tally, queue) => {
                    if let Err(reason) = ended {
                        halt.stop(reason);
                    }
                }
            }
        };
        let handing_over = hand_over(pending, tally, &halt, take, list);
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
