//! The run: reads rows, looks them up, asks the model and writes results, each stage at its own
//! pace.

pub(crate) mod dispatch;
pub(crate) mod error;
pub(crate) mod row_chunks;
pub(crate) mod settings;
pub(crate) mod tally;
pub(crate) mod workers;

use refract_boxed_futures::boxed;
use std::io::{self, Write};
use std::sync::Arc;

use refract_service::runs::{RunFacts, RunRows};
use tokio::sync::mpsc;

use crate::check::{FileCheck, ListedRow, RefusedRows};
use crate::file_run::FileRun;
use crate::output::{
    FinishedRow, RowLayout, RowSinks, RunOutput, RunSummary, hand_over, kept_cells,
};
use crate::run::dispatch::Dispatch;

pub(crate) use self::dispatch::{PendingRow, RowPlace, RowState};
pub(crate) use self::error::{FirstError, RunError, cause};
pub(crate) use self::row_chunks::{RowChunk, RowChunks, RowEnd, RowsInOrder};
pub(crate) use self::settings::{FilePart, RunSettings, Shard};
pub(crate) use self::tally::{RunCounts, RunTally};

/// The output files of a run.
pub struct RunFiles<'a> {
    /// The form of the rows.
    pub layout: RowLayout,
    /// The destination of the rows.
    pub rows: &'a mut dyn Write,
    /// The destination of the list of refused rows, as CSV: `line`, `reason`, then the row's cells.
    pub refused: Option<&'a mut dyn Write>,
}

#[boxed]
impl FileRun {
    /// Asks about every unanswered row of the shard, retries failed rows, and writes all results in
    /// the order of the file. The file must be unchanged since `check`.
    ///
    /// Once `stop` completes, no further row is begun. Whatever stops a run, rows in flight are
    /// finished, saved and written.
    pub async fn run(
        &self,
        settings: RunSettings,
        check: &FileCheck,
        tally: &Arc<RunTally>,
        files: RunFiles<'_>,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let layout = files.layout;
        let kept = kept_cells(layout.keep_columns, files.refused.is_some(), &check.columns);
        let own = layout.own_columns(&check.columns, self.prism.columns());
        let mut refused = RefusedRows::new(files.refused, &check.columns);
        let begun = RunOutput::new(&self.prism, layout, own.as_deref(), files.rows);
        let begun = begun.and_then(|mut output| {
            output.write_header()?;
            refused.write_header()?;
            Ok(output)
        });
        let mut output = match begun {
            Ok(output) => output,
            Err(error) => {
                return RunSummary {
                    stop: Some(RunError::Output { line: 1, error }),
                    ..RunSummary::default()
                };
            }
        };
        let rows = RowChunks::read(self, FilePart::WHOLE, Some(check.rows_in_file), kept);
        let take = |row: FinishedRow| output.write(&row.cells, &row.result.view());
        let list = |row: ListedRow| refused.write(&row);
        let sinks = RowSinks { take, list };
        let facts = check.facts("run");
        let ended = self.run_each(facts, settings, rows, tally, sinks, stop);
        let summary = ended.await;
        output.end(summary)
    }

    /// Asks about every row and gives each to a sink, in the order of the file. Saves one event
    /// before the first row and one after the last.
    pub(crate) async fn run_each(
        &self,
        facts: RunFacts,
        settings: RunSettings,
        rows: RowChunks,
        tally: &Arc<RunTally>,
        sinks: RowSinks<
            impl FnMut(FinishedRow) -> io::Result<()>,
            impl FnMut(ListedRow) -> io::Result<()>,
        >,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        if let Err(refusal) = self.prism.save_run_started(facts).await {
            return RunSummary {
                stop: Some(RunError::Unrecorded { refusal }),
                ..RunSummary::default()
            };
        }
        // boxed, because the future is large and moved several times before it runs
        let asking = Box::pin(self.ask_each(settings, rows, tally, sinks, stop));
        let mut summary = asking.await;
        let counts = tally.counts();
        let rows = RunRows {
            answered_before: counts.answered_before,
            answered: counts.ok,
            failed: counts.failed,
            is_stopped: summary.stop.is_some(),
        };
        if let Err(refusal) = self.prism.save_run_ended(facts, rows).await {
            summary.stop.get_or_insert(RunError::Unrecorded { refusal });
        }
        summary
    }

    /// Asks about every row and gives each to a sink, in the order of the file. Saves no event.
    pub(crate) async fn ask_each(
        &self,
        settings: RunSettings,
        rows: RowChunks,
        tally: &Arc<RunTally>,
        sinks: RowSinks<
            impl FnMut(FinishedRow) -> io::Result<()>,
            impl FnMut(ListedRow) -> io::Result<()>,
        >,
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let (budgets, account) = self.prism.budgets();
        if let Err(used_up) = budgets.check(account).await {
            return RunSummary {
                stop: Some(used_up.into()),
                ..RunSummary::default()
            };
        }
        let share = Arc::new(budgets.share(account, settings.concurrency));
        let first_error = FirstError::new();
        let (queue, pending) = mpsc::channel(settings.concurrency.get() * 4 + 64);
        let dispatching = async {
            tokio::select! {
                biased;
                () = first_error.stopped() => {}
                ended = Dispatch::all(self, settings, rows, tally, &share, queue) => {
                    if let Err(reason) = ended {
                        first_error.stop(reason);
                    }
                }
            }
        };
        let handing_over = hand_over(pending, tally, &first_error, sinks);
        let working = async { tokio::join!(dispatching, handing_over).1 };
        let stopping = async {
            stop.await;
            first_error.stop(RunError::Asked);
            std::future::pending().await
        };
        let spending = async {
            first_error.stop(share.grant().await.into());
            std::future::pending().await
        };
        let mut summary = tokio::select! {
            summary = working => summary,
            never = stopping => never,
            never = spending => never,
        };
        share.release().await;
        summary.stop = first_error.take();
        summary
    }
}
