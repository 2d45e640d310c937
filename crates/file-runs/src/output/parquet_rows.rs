//! Writes results as Parquet: columns with types, in row groups, for tools of analysis.
//!
//! Rows are gathered in memory up to a row group, so memory stays the same at any number of rows. A
//! thread of its own encodes a row group while the next one is gathered.

mod columns;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::SerializedFileWriter;
use refract_domain::lens::Value;
use refract_domain::result::{ResultView, RowColumns};
use refract_lens_rendering::{FurtherColumn, FurtherValue, RefusedRowView};

use self::columns::ColumnValues;
use super::ready_bytes::ReadyBytes;
use super::row_cells::{self, ColumnKind, RowCell, RowShape};

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
    kinds: Vec<ColumnKind>,
    group: RowGroup,
    rows: usize,
    bytes: usize,
    /// Has no room: a row group waits until the one before is encoded.
    groups: SyncSender<RowGroup>,
    encoder: JoinHandle<Result<(), ParquetError>>,
    written: ReadyBytes,
}

/// The values of a row group, column by column.
type RowGroup = Vec<ColumnValues>;

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
        let mut properties = properties.set_statistics_enabled(EnabledStatistics::Chunk);
        // hardly two results have the same: a dictionary would be as large as the column
        for unique in ["result_id", "ref", "created_at"] {
            properties = properties.set_column_dictionary_enabled(unique.into(), false);
        }
        let written = ReadyBytes::default();
        let file = SerializedFileWriter::new(
            written.clone(),
            Arc::new(schema),
            Arc::new(properties.build()),
        );
        let file = file.map_err(failed)?;
        let (groups, gathered) = sync_channel(0);
        let encoder = thread::Builder::new().name("parquet".to_owned());
        let kinds: Vec<_> = layout.iter().map(|(_, kind)| *kind).collect();
        Ok(Self {
            shape: RowShape::new(columns, own),
            group: empty_group(&kinds),
            kinds,
            rows: 0,
            bytes: 0,
            groups,
            encoder: encoder.spawn(move || encode(file, &gathered))?,
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
        let cells = self.shape.cells(&id, cells, result, further);
        self.bytes += push(&mut self.group, cells);
        self.end_row()
    }

    /// Adds a refused row, as [`Self::write`].
    ///
    /// # Errors
    /// When the rows cannot be encoded.
    pub fn write_refused(
        &mut self,
        cells: &[String],
        row: &RefusedRowView<'_>,
    ) -> io::Result<Vec<u8>> {
        let cells = self.shape.refused_cells(cells, row);
        self.bytes += push(&mut self.group, cells);
        self.end_row()
    }

    /// Counts a row. Hands the row group over if it is full, and returns the bytes that are ready.
    fn end_row(&mut self) -> io::Result<Vec<u8>> {
        self.rows += 1;
        if self.rows >= GROUP_ROWS || self.bytes >= GROUP_BYTES {
            let group = std::mem::replace(&mut self.group, empty_group(&self.kinds));
            (self.rows, self.bytes) = (0, 0);
            self.groups.send(group).map_err(|_| stopped())?;
            return Ok(self.written.take());
        }
        Ok(Vec::new())
    }

    /// Ends the file and returns its last bytes.
    ///
    /// # Errors
    /// When the rows cannot be encoded.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        if self.rows > 0 {
            self.groups.send(self.group).map_err(|_| stopped())?;
        }
        drop(self.groups);
        let encoded = self.encoder.join();
        encoded.map_err(|_| stopped())?.map_err(failed)?;
        Ok(self.written.take())
    }
}

fn empty_group(kinds: &[ColumnKind]) -> RowGroup {
    kinds.iter().copied().map(ColumnValues::new).collect()
}

/// Adds the cells of a row to the columns, and returns their size in bytes.
fn push<'c>(group: &mut RowGroup, cells: impl Iterator<Item = RowCell<'c>>) -> usize {
    let missing = std::iter::repeat_with(|| RowCell::Value(Value::Null));
    let pushed = group.iter_mut().zip(cells.chain(missing));
    pushed.map(|(column, cell)| column.push_cell(cell)).sum()
}

/// Encodes row groups until there are no more, and ends the file.
fn encode(
    mut file: SerializedFileWriter<ReadyBytes>,
    groups: &Receiver<RowGroup>,
) -> Result<(), ParquetError> {
    for columns in groups {
        let mut group = file.next_row_group()?;
        for column in columns {
            column.write(&mut group)?;
        }
        group.close()?;
    }
    file.finish().map(drop)
}

/// The encoder ended before the rows did.
fn stopped() -> io::Error {
    io::Error::other("the Parquet encoder stopped")
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests;
