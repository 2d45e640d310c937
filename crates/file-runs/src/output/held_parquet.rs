//! The rows of a run as a Parquet file, from the results that its rows have now.

use std::sync::Arc;

use crate::file_run::FileRun;
use crate::output::held_output::{HeldOutputError, file_columns, results_of, with_results};
use crate::output::parquet_rows::ParquetRows;
use crate::output::row_layout::{kept_cells, own_columns};
use crate::run::row_chunks::RowChunks;
use crate::run::settings::FilePart;

/// The rows of a run that have a result, `ok` or `failed`, in the order of the file, as Parquet.
pub struct HeldParquet {
    run: Arc<FileRun>,
    keep_columns: bool,
    state: ParquetState,
}

enum ParquetState {
    Begin,
    Rows(Box<ParquetRows>, RowChunks),
    End,
}

impl FileRun {
    /// Writes the rows that have a result now as pieces of a Parquet file, beside all columns of the
    /// file if wanted. Reads nothing yet.
    pub fn held_parquet(self: &Arc<Self>, keep_columns: bool) -> HeldParquet {
        HeldParquet {
            run: Arc::clone(self),
            keep_columns,
            state: ParquetState::Begin,
        }
    }
}

impl HeldParquet {
    /// The next piece of the file, which may be empty; `None` after the last. The file is valid only
    /// with its last piece.
    ///
    /// # Errors
    /// When the file of the run cannot be read, or the database fails.
    pub async fn next_chunk(&mut self) -> Result<Option<Vec<u8>>, HeldOutputError> {
        match std::mem::replace(&mut self.state, ParquetState::End) {
            ParquetState::End => Ok(None),
            ParquetState::Begin => {
                let columns = file_columns(&self.run, self.keep_columns).await?;
                let answers = self.run.prism.columns();
                let own = self.keep_columns.then(|| own_columns(&columns, answers));
                let rows = ParquetRows::new(answers, own.as_deref(), &[])?;
                let kept = kept_cells(self.keep_columns, false, &columns);
                let chunks = RowChunks::read(&self.run, FilePart::WHOLE, None, kept);
                self.state = ParquetState::Rows(Box::new(rows), chunks);
                Ok(Some(Vec::new()))
            }
            ParquetState::Rows(mut rows, mut chunks) => {
                let Some(chunk) = chunks.next().await? else {
                    return Ok(Some(rows.finish()?));
                };
                let found = results_of(&self.run, &chunk).await?;
                let mut out = Vec::new();
                for (cells, result) in with_results(chunk, found) {
                    out.extend(rows.write(&cells, &result.view(), [])?);
                }
                self.state = ParquetState::Rows(rows, chunks);
                Ok(Some(out))
            }
        }
    }
}
