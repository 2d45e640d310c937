//! Writes results as Parquet: columns with types, in row groups, for tools of analysis.
//!
//! Rows are gathered in memory up to a row group, so memory stays the same at any number of rows.

mod columns;

use std::io;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use refract_domain::lens::Value;
use refract_domain::result::view::{ResultView, RowColumns};
use refract_lens_rendering::{FurtherColumn, FurtherValue};

use self::columns::ColumnValues;
use super::ready_bytes::ReadyBytes;
use super::row_cells::{self, RowCell, RowShape};

/// Upper bound on the rows of a row group.
const GROUP_ROWS: usize = 50_000;
/// Size in bytes of values at which a row group ends.
const GROUP_BYTES: usize = 8 * 1024 * 1024;

/// Results as the bytes of a Parquet file, piece by piece.
///
/// The columns are those of the rows of the API, with their types: `version` is an integer,
/// `created_at` a moment in UTC, probabilities and averages are doubles, level numbers integers, and
/// all outcomes of a question a map from key to probability.
pub struct ParquetRows {
    shape: RowShape,
    columns: Vec<ColumnValues>,
    rows: usize,
    bytes: usize,
    file: SerializedFileWriter<ReadyBytes>,
    written: ReadyBytes,
}

impl ParquetRows {
    /// Rows with these columns. Those of another table come first, in place of `ref` and the
    /// fields; further ones come last.
    ///
    /// # Errors
    /// When two columns have the same name.
    pub fn new(
        columns: RowColumns<'_>,
        own: Option<&[String]>,
        further: &[FurtherColumn],
    ) -> io::Result<Self> {
        let layout = row_cells::columns(columns, own, further);
        let schema = columns::of(&layout).map_err(io::Error::other)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let written = ReadyBytes::default();
        let file = SerializedFileWriter::new(
            written.clone(),
            Arc::new(schema),
            Arc::new(properties.build()),
        );
        Ok(Self {
            shape: RowShape::new(columns, own),
            columns: layout
                .iter()
                .map(|(_, kind)| ColumnValues::new(*kind))
                .collect(),
            rows: 0,
            bytes: 0,
            file: file.map_err(failed)?,
            written,
        })
    }

    /// Adds a result with the cells of another table's row and the values of further columns. Returns the
    /// bytes that are ready, mostly none.
    ///
    /// # Errors
    /// When the rows cannot be encoded.
    pub fn write<'v>(
        &mut self,
        cells: &[String],
        result: &ResultView<'v>,
        further: impl IntoIterator<Item = FurtherValue<'v>>,
    ) -> io::Result<Vec<u8>> {
        let id = result.id.uuid().hyphenated().to_string();
        let missing = std::iter::repeat_with(|| RowCell::Value(Value::Null));
        let cells = self.shape.cells(&id, cells, result, further).chain(missing);
        let pushed = self.columns.iter_mut().zip(cells);
        let bytes: usize = pushed.map(|(column, cell)| column.push_cell(cell)).sum();
        self.bytes += bytes;
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            self.end_group()?;
            return Ok(self.written.take());
        }
        Ok(Vec::new())
    }

    /// Ends the file and returns its last bytes.
    ///
    /// # Errors
    /// When the rows cannot be encoded.
    pub fn finish(mut self) -> io::Result<Vec<u8>> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.file.finish().map_err(failed)?;
        Ok(self.written.take())
    }

    fn end_group(&mut self) -> io::Result<()> {
        let mut group = self.file.next_row_group().map_err(failed)?;
        for column in &mut self.columns {
            column.write(&mut group).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        self.rows = 0;
        self.bytes = 0;
        Ok(())
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests;
