//! Reads a file's rows on a thread that may block, some at a time.

use refract_domain::reference::IdempotencyKey;
use tokio::sync::mpsc;

use super::identity::RunIdentity;
use super::row::Row;
use super::rows::Rows;
use super::{FileRun, InputFault};

/// Rows of a chunk: whether they are answered is asked for in one query.
const MOST_ROWS: usize = 128;
/// Bytes of a chunk, but for its last row.
const MOST_BYTES: usize = 1024 * 1024;
/// Chunks that are read ahead.
const AHEAD: usize = 2;

/// Some rows with the keys of those that are not refused, in the same order.
pub(crate) struct Chunk {
    pub(crate) rows: Vec<Row>,
    pub(crate) keys: Vec<IdempotencyKey>,
}

/// The chunks of a file. Reading ends when this is dropped.
pub(crate) struct Reading(mpsc::Receiver<Result<Chunk, InputFault>>);

impl Reading {
    /// Begins; the file has to have as many rows as it had when it was checked.
    pub(crate) fn start(run: &FileRun, rows_in_file: u64) -> Self {
        let (sender, chunks) = mpsc::channel(AHEAD);
        let rows = Rows::of(run);
        let identity = run.identity.clone();
        tokio::task::spawn_blocking(move || {
            let mut reader = match rows {
                Ok(rows) => Reader {
                    rows,
                    identity,
                    rows_in_file,
                },
                Err(fault) => return drop(sender.blocking_send(Err(fault))),
            };
            while let Some(chunk) = reader.chunk().transpose() {
                let is_last = chunk.is_err();
                // whoever dropped the other end wants no more
                if sender.blocking_send(chunk).is_err() || is_last {
                    return;
                }
            }
        });
        Self(chunks)
    }

    /// The next chunk; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Chunk>, InputFault> {
        self.0.recv().await.transpose()
    }
}

struct Reader {
    rows: Rows,
    identity: RunIdentity,
    rows_in_file: u64,
}

impl Reader {
    /// The next chunk. Of one that ends in a fault nothing is kept: the file is not what it was.
    fn chunk(&mut self) -> Result<Option<Chunk>, InputFault> {
        let mut chunk = Chunk {
            rows: Vec::new(),
            keys: Vec::new(),
        };
        let mut bytes = 0;
        while chunk.rows.len() < MOST_ROWS && bytes < MOST_BYTES {
            let Some(row) = self.rows.next()? else {
                if self.rows.number() != self.rows_in_file {
                    let line = self.rows.line();
                    return Err(InputFault::Changed { line });
                }
                break;
            };
            bytes += row.bytes();
            if let Ok(content) = &row.content {
                chunk.keys.push(self.identity.key(&row, content));
            }
            chunk.rows.push(row);
        }
        Ok((!chunk.rows.is_empty()).then_some(chunk))
    }
}
