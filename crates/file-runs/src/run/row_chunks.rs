//! Reads the rows of a file in chunks, on a blocking thread.

use refract_domain::submission::reference::IdempotencyKey;
use tokio::sync::mpsc;

use crate::file_run::FileRun;
use crate::input::InputError;
use crate::input::row::InputRow;
use crate::input::rows::{InputRows, KeptCells};
use crate::run::identity::RunIdentity;
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
