//! Writes the rows of a run in the order of the file, and counts what stands in them.

use std::collections::HashMap;
use std::io::{self, Write};

use refract_answering::PinnedPrism;
use refract_domain::column_tally::ColumnTally;
use refract_domain::lens::Column;
use refract_domain::view::ResultView;
use refract_lens_rendering::{RowFormat, RowWriter};
use tokio::sync::mpsc;

use crate::dispatch::{PendingRow, RowState};
use crate::run_stop::{Halt, RunStop};
use crate::run_tally::RunTally;

/// How a run ended.
#[derive(Debug)]
pub struct RunSummary {
    /// Why the run stopped early; `None` after the end of the file.
    pub stop: Option<RunStop>,
    /// Number of rows in the output.
    pub written: u64,
    /// Errors of the failed rows in the output with the number of their rows, the most frequent
    /// first.
    pub failures: Vec<(String, u64)>,
    /// What stands in each lens column of the answered rows in the output.
    pub columns: Vec<ColumnTally>,
}

/// The rows that are written, and their counts.
pub(crate) struct RunOutput<'a, W> {
    rows: RowWriter<'a, W>,
    lens: &'a [Column],
    columns: Vec<ColumnTally>,
    failures: HashMap<String, u64>,
    written: u64,
    /// Whether no row is missing so far: nothing is written after a missing row.
    is_whole: bool,
}

impl<'a, W: Write> RunOutput<'a, W> {
    /// An output without rows.
    pub(crate) fn new(prism: &'a PinnedPrism, format: RowFormat, out: W) -> Self {
        let columns = prism.columns();
        let tally =
            |column: &Column| ColumnTally::new(column, prism.version().question(&column.question));
        Self {
            rows: RowWriter::new(format, columns, out),
            lens: columns.lens,
            columns: columns.lens.iter().map(tally).collect(),
            failures: HashMap::new(),
            written: 0,
            is_whole: true,
        }
    }

    /// Waits for one pending row after another and writes it. After a stop it still waits for all
    /// pending rows, and writes up to the first row that is missing.
    pub(crate) async fn write_all(
        mut self,
        mut pending: mpsc::Receiver<PendingRow>,
        tally: &RunTally,
        halt: &Halt,
    ) -> RunSummary {
        if let Err(error) = self.rows.write_header() {
            self.is_whole = false;
            halt.stop(RunStop::Output { line: 1, error });
        }
        while let Some(row) = pending.recv().await {
            let line = row.line;
            let ended = match row.state {
                RowState::Refused => {
                    tally.row_refused();
                    continue;
                }
                RowState::Answered(result) => {
                    tally.row_was_answered();
                    Ok(*result)
                }
                RowState::Asked(answer) => {
                    let answer = answer.await.map_err(|_| RunStop::Lost { line });
                    answer.and_then(|asked| asked.map_err(|refusal| RunStop::Row { line, refusal }))
                }
            };
            let written = match ended {
                Ok(result) if self.is_whole => self
                    .write(&result.view())
                    .map_err(|error| RunStop::Output { line, error }),
                Ok(_) => Ok(()),
                Err(stop) => Err(stop),
            };
            if let Err(stop) = written {
                self.is_whole = false;
                halt.stop(stop);
            }
        }
        self.summary()
    }

    fn write(&mut self, result: &ResultView<'_>) -> io::Result<()> {
        self.rows.write_row(result)?;
        self.written += 1;
        match result.status.error() {
            None => {
                for (tally, value) in self.columns.iter_mut().zip(result.values(self.lens)) {
                    tally.add(value);
                }
            }
            Some(error) => match self.failures.get_mut(error) {
                Some(count) => *count += 1,
                None => {
                    self.failures.insert(error.to_owned(), 1);
                }
            },
        }
        Ok(())
    }

    fn summary(self) -> RunSummary {
        let mut failures: Vec<_> = self.failures.into_iter().collect();
        failures
            .sort_by(|(words, count), (other, others)| others.cmp(count).then(words.cmp(other)));
        RunSummary {
            stop: None,
            written: self.written,
            failures,
            columns: self.columns,
        }
    }
}
