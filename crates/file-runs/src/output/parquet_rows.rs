//! Writes results as Parquet: columns with types, in row groups, for tools of analysis.
//!
//! Rows are gathered in memory up to a row group, so memory stays the same at any number of rows.

pub(super) mod columns;

use std::io;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use refract_domain::key::{ColumnName, FieldKey};
use refract_domain::lens::{Column, Value};
use refract_domain::result::view::{ResultView, RowColumns};

use self::columns::ColumnValues;
use super::workbook_writer::ReadyBytes;

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
    fields: Vec<FieldKey>,
    lens: Vec<Column>,
    /// Number of columns of another table, which take the place of `ref` and the fields.
    own: Option<usize>,
    columns: Vec<ColumnValues>,
    rows: usize,
    bytes: usize,
    file: SerializedFileWriter<ReadyBytes>,
    written: ReadyBytes,
}

impl ParquetRows {
    /// Rows with these columns. Those of another table come first, in place of `ref` and the
    /// fields; those of marks come last.
    ///
    /// # Errors
    /// When two columns have the same name.
    pub fn new(
        columns: RowColumns<'_>,
        own: Option<&[String]>,
        marked: &[ColumnName],
    ) -> io::Result<Self> {
        let layout = columns::columns(columns, own, marked);
        let schema = columns::of(&layout).map_err(io::Error::other)?;
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY);
        let written = ReadyBytes::default();
        let file = SerializedFileWriter::new(
            written.clone(),
            Arc::new(schema),
            Arc::new(properties.build()),
        );
        Ok(Self {
            fields: columns
                .fields
                .iter()
                .map(|field| field.key.clone())
                .collect(),
            lens: columns.lens.to_vec(),
            own: own.map(<[String]>::len),
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

    /// Adds a result with the cells of another table's row and the values of its marks. Returns the
    /// bytes that are ready, mostly none.
    ///
    /// # Errors
    /// When the rows cannot be encoded.
    pub fn write<'v>(
        &mut self,
        cells: &[String],
        result: &ResultView<'v>,
        marks: impl IntoIterator<Item = Value<'v>>,
    ) -> io::Result<Vec<u8>> {
        let mut row = RowValues {
            columns: self.columns.iter_mut(),
            bytes: 0,
        };
        let own = (0..self.own.unwrap_or_default()).map(|index| cells.get(index));
        for cell in own {
            row.text(Some(cell.map_or("", String::as_str)));
        }
        row.text(Some(&result.id.uuid().hyphenated().to_string()));
        if self.own.is_none() {
            row.text(result.reference);
        }
        row.push(|column| column.push_int(Some(result.version.get())));
        row.text(Some(result.status.name()));
        row.text(result.status.error());
        row.push(|column| column.push_moment(result.created_at.timestamp_millis()));
        if self.own.is_none() {
            for field in &self.fields {
                row.text(Some(result.field(field).unwrap_or_default()));
            }
        }
        let missing = std::iter::repeat(Value::Null);
        for value in result.values(&self.lens) {
            row.push(|column| column.push(value));
        }
        for value in marks.into_iter().chain(missing).take(row.columns.len()) {
            row.push(|column| column.push(value));
        }
        self.bytes += row.bytes;
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

/// The columns of one row, from left to right.
struct RowValues<'c> {
    columns: std::slice::IterMut<'c, ColumnValues>,
    bytes: usize,
}

impl RowValues<'_> {
    fn text(&mut self, text: Option<&str>) {
        self.push(|column| column.push_text(text));
    }

    fn push(&mut self, push: impl FnOnce(&mut ColumnValues) -> usize) {
        self.bytes += self.columns.next().map_or(0, push);
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}

#[cfg(test)]
mod tests;
