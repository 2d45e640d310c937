//! Rows: one result on each line, under the columns of the prism (spec 4.0).

use std::io::{self, Write};

use refract_domain::answer::decimal::Decimal;
use refract_domain::key::{ColumnName, ROW_NAMES};
use refract_domain::lens::Value;
use refract_domain::result::view::{ResultView, RowColumns};

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::{ObjectWriter, write_value};
use crate::plain::{id_text, iso_8601};

/// Writes any number of results as rows under one header.
///
/// Every cell takes a few small writes: wrap a file or a socket in a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct RowWriter<'a, W> {
    format: RowFormat,
    columns: RowColumns<'a>,
    marked: &'a [ColumnName],
    out: W,
}

impl<'a, W: Write> RowWriter<'a, W> {
    /// Makes a writer of rows with these columns; writes nothing yet.
    pub fn new(format: RowFormat, columns: RowColumns<'a>, out: W) -> Self {
        Self {
            format,
            columns,
            marked: &[],
            out,
        }
    }

    /// Adds columns of marks after those of the lens. The API's rows have none.
    #[must_use]
    pub fn with_marks(self, marked: &'a [ColumnName]) -> Self {
        Self { marked, ..self }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        match self.format {
            RowFormat::Csv => self.write_header_line(Dialect::Csv),
            RowFormat::Tsv => self.write_header_line(Dialect::Tsv),
            RowFormat::Jsonl => Ok(()),
        }
    }

    /// Writes one result as a row, byte for byte as [`render`](crate::render) does. [Columns of
    /// marks](Self::with_marks) stay empty.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row(&mut self, result: &ResultView<'_>) -> io::Result<()> {
        self.write_marked_row(result, [])
    }

    /// Writes one result as a row with the values of its marks, in the order of the [columns of
    /// marks](Self::with_marks). Columns without a value stay empty.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_marked_row<'v>(
        &mut self,
        result: &ResultView<'_>,
        marks: impl IntoIterator<Item = Value<'v>>,
    ) -> io::Result<()> {
        let missing = std::iter::repeat(Value::Null);
        let marks = marks.into_iter().chain(missing);
        match self.format {
            RowFormat::Csv => self.write_line(Dialect::Csv, result, marks),
            RowFormat::Tsv => self.write_line(Dialect::Tsv, result, marks),
            RowFormat::Jsonl => self.write_object(result, marks),
        }
    }

    /// Flushes and returns the underlying writer.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    fn write_header_line(&mut self, dialect: Dialect) -> io::Result<()> {
        let mut line = Line::begin(dialect, &mut self.out);
        for name in ROW_NAMES {
            line.plain(name.as_bytes())?;
        }
        for field in self.columns.fields {
            line.plain(field.key.as_str().as_bytes())?;
        }
        let columns = self.columns.lens.iter().map(|column| &column.name);
        for name in columns.chain(self.marked) {
            line.plain(name.as_str().as_bytes())?;
        }
        line.end()
    }

    fn write_line<'v>(
        &mut self,
        dialect: Dialect,
        result: &ResultView<'_>,
        marks: impl Iterator<Item = Value<'v>>,
    ) -> io::Result<()> {
        let mut line = Line::begin(dialect, &mut self.out);
        line.plain(&id_text(result.id))?;
        line.text(result.reference.unwrap_or_default())?;
        line.plain(Decimal::from(result.version).as_bytes())?;
        line.plain(result.status.name().as_bytes())?;
        line.text(result.status.error().unwrap_or_default())?;
        line.plain(&iso_8601(result.created_at))?;
        for field in self.columns.fields {
            line.text(result.field(&field.key).unwrap_or_default())?;
        }
        for value in result.values(self.columns.lens) {
            line.value(value)?;
        }
        for value in marks.take(self.marked.len()) {
            line.value(value)?;
        }
        line.end()
    }

    fn write_object<'v>(
        &mut self,
        result: &ResultView<'_>,
        marks: impl Iterator<Item = Value<'v>>,
    ) -> io::Result<()> {
        let mut row = ObjectWriter::begin(&mut self.out)?;
        row.plain_string("result_id", &id_text(result.id))?;
        row.string_or_null("ref", result.reference)?;
        row.number("version", result.version.into())?;
        row.plain_string("status", result.status.name().as_bytes())?;
        row.string_or_null("error", result.status.error())?;
        row.plain_string("created_at", &iso_8601(result.created_at))?;
        for field in self.columns.fields {
            row.string(
                field.key.as_str(),
                result.field(&field.key).unwrap_or_default(),
            )?;
        }
        let lens = self.columns.lens;
        for (column, value) in lens.iter().zip(result.values(lens)) {
            write_value(row.key(column.name.as_str())?, value)?;
        }
        for (name, value) in self.marked.iter().zip(marks) {
            write_value(row.key(name.as_str())?, value)?;
        }
        row.end()?;
        self.out.write_all(b"\n")
    }
}
