//! Reads the rows of a file in chunks, on a blocking thread, without the finished rows at the beginning
//! of the file: what a run that goes on need not look at again.

use std::collections::BTreeMap;

use refract_domain::submission::IdempotencyKey;
use tokio::sync::mpsc;

use crate::file_run::{FileRun, RunIdentity};
use crate::input::{InputError, InputRow, InputRows, KeptCells};
use crate::run::settings::FilePart;

/// Upper bound on the rows of a chunk: one query looks up the answered ones.
const MOST_ROWS: usize = 128;
/// Size in bytes at which a chunk ends.
const MOST_BYTES: usize = 1024 * 1024;
/// Number of chunks to read ahead.
const AHEAD: usize = 2;

/// Consecutive rows of the shard, and the idempotency keys of the accepted ones in order.
pub(crate) struct RowChunk {
    pub(crate) rows: Vec<InputRow>,
    pub(crate) keys: Vec<IdempotencyKey>,
}

/// The chunks of a file. Dropping this stops the reading.
pub(crate) struct RowChunks(mpsc::Receiver<Result<RowChunk, InputError>>);

impl RowChunks {
    /// Starts to read a part of the file. The file must have as many rows as its check found, if it
    /// was checked.
    pub(crate) fn read(
        run: &FileRun,
        part: FilePart,
        rows_in_file: Option<u64>,
        kept: KeptCells,
    ) -> Self {
        let (sender, chunks) = mpsc::channel(AHEAD);
        let run = run.clone();
        let identity = run.identity.clone();
        tokio::task::spawn_blocking(move || {
            // opening reads the header, which may wait for a database
            let rows = InputRows::of(&run).map(|rows| rows.keeping(kept));
            let mut cutter = match rows {
                Ok(rows) => ChunkCutter {
                    rows,
                    identity,
                    part,
                    rows_in_file,
                },
                Err(error) => return drop(sender.blocking_send(Err(error))),
            };
            while let Some(chunk) = cutter.chunk().transpose() {
                let is_last = chunk.is_err();
                // the channel is closed if the run ended early
                if sender.blocking_send(chunk).is_err() || is_last {
                    return;
                }
            }
        });
        Self(chunks)
    }

    /// The next chunk; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<RowChunk>, InputError> {
        self.0.recv().await.transpose()
    }
}

struct ChunkCutter {
    rows: InputRows,
    identity: RunIdentity,
    /// The rest of the part: its bound decreases with each accepted row.
    part: FilePart,
    rows_in_file: Option<u64>,
}

impl ChunkCutter {
    /// Reads the next chunk. An error drops the whole chunk: the check found none, so the file has
    /// changed since.
    fn chunk(&mut self) -> Result<Option<RowChunk>, InputError> {
        let mut chunk = RowChunk {
            rows: Vec::new(),
            keys: Vec::new(),
        };
        let mut bytes = 0;
        while chunk.rows.len() < MOST_ROWS
            && bytes < MOST_BYTES
            && self.part.most_accepted != Some(0)
        {
            let Some(row) = self.rows.next()? else {
                let number = self.rows.number();
                if self.rows_in_file.is_some_and(|rows| rows != number) {
                    let line = self.rows.line();
                    return Err(InputError::Changed { line });
                }
                break;
            };
            if row.number <= self.part.after {
                continue;
            }
            bytes += row.bytes();
            if let Ok(content) = &row.content {
                self.part.most_accepted = self.part.most_accepted.map(|most| most - 1);
                chunk.keys.push(self.identity.key(&row, content));
            }
            chunk.rows.push(row);
        }
        Ok((!chunk.rows.is_empty()).then_some(chunk))
    }
}

/// Upper bound on the errors that are counted apart. The errors of model servers are few, unless a
/// server writes something else into each.
const MOST_ERRORS: usize = 20;
/// The name of all further errors.
const OTHER_ERRORS: &str = "other errors";

/// The rows before the first unfinished one.
///
/// Rows finish in any order. A run that goes on after an interruption begins after these rows, so
/// they are counted apart: a row further on that is answered already is counted when the run comes
/// to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowsInOrder {
    /// The number of the last of these rows; 0 for none.
    pub(crate) done_to: u64,
    /// Rows that a limit refuses.
    pub(crate) refused: u64,
    /// Rows that had an answer.
    pub(crate) answered_before: u64,
    /// Rows that were answered.
    pub(crate) answered: u64,
    /// Rows that failed.
    pub(crate) failed: u64,
    /// The errors of the failed rows with the number of rows of each.
    pub(crate) errors: BTreeMap<String, u64>,
}

/// How a row ended.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RowEnd<'a> {
    /// A limit refuses the row.
    Refused,
    /// The row had an answer.
    AnsweredBefore,
    /// The row was answered.
    Answered,
    /// The row failed with this error.
    Failed(&'a str),
}

impl RowsInOrder {
    /// Adds the next row.
    pub(crate) fn add(&mut self, number: u64, end: RowEnd<'_>) {
        self.done_to = number;
        match end {
            RowEnd::Refused => self.refused += 1,
            RowEnd::AnsweredBefore => self.answered_before += 1,
            RowEnd::Answered => self.answered += 1,
            RowEnd::Failed(error) => {
                self.failed += 1;
                let is_further = self.errors.len() >= MOST_ERRORS;
                let is_other = is_further && !self.errors.contains_key(error);
                let name = if is_other { OTHER_ERRORS } else { error };
                *self.errors.entry(name.to_owned()).or_default() += 1;
            }
        }
    }

    /// How many rows these are.
    pub(crate) fn finished(&self) -> u64 {
        self.refused + self.answered_before + self.answered + self.failed
    }

    /// The errors with their numbers of rows, the most frequent first.
    pub(crate) fn frequent_errors(&self) -> Vec<(String, u64)> {
        let errors = self
            .errors
            .iter()
            .map(|(error, rows)| (error.clone(), *rows));
        let mut errors: Vec<_> = errors.collect();
        errors.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
        errors
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_their_end_and_failed_ones_by_their_error() {
        let mut rows = RowsInOrder::default();
        let ends = [
            RowEnd::Refused,
            RowEnd::Answered,
            RowEnd::Failed("b"),
            RowEnd::AnsweredBefore,
            RowEnd::Failed("a"),
            RowEnd::Failed("b"),
        ];
        for (end, number) in ends.into_iter().zip(11..) {
            rows.add(number, end);
        }
        assert_eq!(rows.done_to, 16);
        let counts = (
            rows.refused,
            rows.answered,
            rows.answered_before,
            rows.failed,
        );
        assert_eq!(counts, (1, 1, 1, 3));
        let errors = rows.frequent_errors();
        assert_eq!(errors, [("b".to_owned(), 2), ("a".to_owned(), 1)]);
    }

    #[test]
    fn errors_that_differ_in_each_row_take_bounded_room() {
        let mut rows = RowsInOrder::default();
        for number in 1..=1_000 {
            rows.add(number, RowEnd::Failed(&format!("error {number}")));
        }
        assert_eq!(rows.errors.len(), MOST_ERRORS + 1);
        assert_eq!(rows.errors[OTHER_ERRORS], 980);
        assert_eq!(rows.frequent_errors()[0].0, OTHER_ERRORS);
    }
}
