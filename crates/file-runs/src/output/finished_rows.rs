//! Hands over the rows of a run in the order of the file, writes them and counts their values. Each
//! row waits only for those before it.

use std::collections::HashMap;
use std::io::{self, Write};

use refract_domain::lens::Column;
use refract_domain::result::ResultView;
use refract_evaluation::counting::ColumnTally;
use refract_service::model::ModelError;
use refract_service::results::ReadableResult;
use refract_service::runs::PinnedPrism;
use tokio::sync::mpsc;

use crate::check::ListedRow;
use crate::gold::ExpectedOutcome;
use crate::output::RowLayout;
use crate::output::laid_out_rows::LaidOutRows;
use crate::run::{FirstError, PendingRow, RowEnd, RowPlace, RowState, RunError, RunTally};

/// A row of a file with its saved result.
pub struct FinishedRow {
    /// The line on which the row begins.
    pub line: u64,
    /// The correct answers of a gold file; empty in a plain file run.
    pub expected: Vec<ExpectedOutcome>,
    /// The row's cells in all columns of the file, if the output keeps them.
    pub(crate) cells: Vec<String>,
    /// The saved result, `ok` or `failed`.
    pub result: ReadableResult,
}

/// The end of a run: its reason and the counts of its output.
#[derive(Debug, Default)]
pub struct RunSummary {
    /// Why the run stopped early; `None` after the end of the file.
    pub stop: Option<RunError>,
    /// Number of rows in the output.
    pub written: u64,
    /// Errors of the failed rows in the output, each with the number of rows, the most frequent
    /// first.
    pub failures: Vec<(String, u64)>,
    /// Counts of the values in each lens column of the answered rows in the output; empty without
    /// an output.
    pub columns: Vec<ColumnTally>,
    /// Number of texts that were too long for a cell of a workbook, and so were cut.
    pub cut_texts: u64,
}

/// The two destinations of a run's rows. Each returns an error if it cannot write.
pub(crate) struct RowSinks<T, L> {
    /// Receives each row that has a result.
    pub(crate) take: T,
    /// Receives each refused row.
    pub(crate) list: L,
}

/// Waits for the pending rows in order and gives each to a sink. After a stop it still waits for
/// all pending rows, and hands over those before the first missing row.
pub(crate) async fn hand_over(
    mut pending: mpsc::Receiver<PendingRow>,
    tally: &RunTally,
    first_error: &FirstError,
    sinks: RowSinks<
        impl FnMut(FinishedRow) -> io::Result<()>,
        impl FnMut(ListedRow) -> io::Result<()>,
    >,
) -> RunSummary {
    let RowSinks { mut take, mut list } = sinks;
    let mut failures: HashMap<String, u64> = HashMap::new();
    let mut written = 0;
    let mut is_whole = true;
    // a run that goes on later begins with the row that failed for used-up credit
    let mut is_in_order = true;
    while let Some(PendingRow { place, state }) = pending.recv().await {
        let RowPlace {
            line,
            number,
            expected,
            cells,
            room: _room,
        } = place;
        let was_answered = matches!(state, RowState::AnsweredBefore(_));
        let ended = match state {
            RowState::Refused(refused) => {
                tally.row_refused();
                if let Err(error) = list(refused) {
                    first_error.stop(RunError::RefusedList { line, error });
                }
                if is_whole && is_in_order {
                    tally.next_in_order(number, RowEnd::Refused);
                }
                continue;
            }
            RowState::AnsweredBefore(result) => {
                tally.row_was_answered();
                Ok(*result)
            }
            RowState::AnsweredInThisRun(result) => Ok(*result),
            RowState::Asked(answer) => {
                let answer = answer.await.map_err(|_| RunError::Lost { line });
                answer.and_then(|asked| asked.map_err(|refusal| RunError::Row { line, refusal }))
            }
        };
        let taken = match ended {
            Ok(result) if is_whole => {
                let error = result.view().status.error().map(str::to_owned);
                let row = FinishedRow {
                    line,
                    expected,
                    cells,
                    result,
                };
                take(row)
                    .map(|()| {
                        written += 1;
                        let end = match &error {
                            Some(error) => RowEnd::Failed(error),
                            None if was_answered => RowEnd::AnsweredBefore,
                            None => RowEnd::Answered,
                        };
                        is_in_order &= !error
                            .as_deref()
                            .is_some_and(ModelError::is_about_used_up_credit);
                        if is_in_order {
                            tally.next_in_order(number, end);
                        }
                        if let Some(error) = error {
                            *failures.entry(error).or_default() += 1;
                        }
                    })
                    .map_err(|error| RunError::Output { line, error })
            }
            Ok(_) => Ok(()),
            Err(stop) => Err(stop),
        };
        if let Err(stop) = taken {
            is_whole = false;
            first_error.stop(stop);
        }
    }
    RunSummary {
        written,
        failures: most_frequent_first(failures),
        ..RunSummary::default()
    }
}

fn most_frequent_first(failures: HashMap<String, u64>) -> Vec<(String, u64)> {
    let mut failures: Vec<_> = failures.into_iter().collect();
    failures.sort_by(|(words, count), (other, others)| others.cmp(count).then(words.cmp(other)));
    failures
}

/// The rows that are written, and their counts.
pub(crate) struct RunOutput<'a, W> {
    rows: LaidOutRows<'a, W>,
    lens: &'a [Column],
    columns: Vec<ColumnTally>,
}

impl<'a, W: Write> RunOutput<'a, W> {
    /// An output without rows. Rows stand beside the columns of the file, if there are `own`.
    pub(crate) fn new(
        prism: &'a PinnedPrism,
        layout: RowLayout,
        own: Option<&'a [String]>,
        out: W,
    ) -> io::Result<Self> {
        let columns = prism.columns();
        let tally =
            |column: &Column| ColumnTally::new(column, prism.version().question(&column.question));
        Ok(Self {
            rows: layout.writer(columns, own, out)?,
            lens: columns.lens,
            columns: columns.lens.iter().map(tally).collect(),
        })
    }

    pub(crate) fn write_header(&mut self) -> io::Result<()> {
        self.rows.write_header()
    }

    /// Writes a row, beside the cells of its file if these are kept.
    pub(crate) fn write(&mut self, cells: &[String], result: &ResultView<'_>) -> io::Result<()> {
        self.rows.write(cells, result)?;
        if result.status.error().is_none() {
            for (tally, value) in self.columns.iter_mut().zip(result.values(self.lens)) {
                tally.add(value);
            }
        }
        Ok(())
    }

    /// Ends the output, also that of a run that stopped, and adds to the run's summary what was
    /// counted in its rows.
    pub(crate) fn end(self, summary: RunSummary) -> RunSummary {
        let cut_texts = self.rows.cut_texts();
        let ended = self.rows.finish();
        let line = summary.written + 1;
        let failed = |error| RunError::Output { line, error };
        RunSummary {
            stop: summary.stop.or_else(|| ended.err().map(failed)),
            columns: self.columns,
            cut_texts,
            ..summary
        }
    }
}
