//! Rows: one result on each line, under the columns of the prism (spec 4.0).

use std::io::{self, Write};

use refract_domain::decimal::Decimal;
use refract_domain::key::ROW_NAMES;
use refract_domain::view::{ResultView, RowColumns};

use crate::RowFormat;
use crate::cell::{Dialect, Line};
use crate::json::{ObjectWriter, write_value};
use crate::plain::{id_text, iso_8601};

/// Writes any number of results as rows under one header.
///
/// Every cell is a few small writes. Wrap a file or a socket in a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct RowWriter<'a, W> {
    format: RowFormat,
    columns: RowColumns<'a>,
    out: W,
}

impl<'a, W: Write> RowWriter<'a, W> {
    /// Makes a writer of rows with these columns and writes nothing yet.
    pub fn new(format: RowFormat, columns: RowColumns<'a>, out: W) -> Self {
        Self {
            format,
            columns,
            out,
        }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        match self.format {
            RowFormat::Csv => write_header_line(Dialect::Csv, self.columns, &mut self.out),
            RowFormat::Tsv => write_header_line(Dialect::Tsv, self.columns, &mut self.out),
            RowFormat::Jsonl => Ok(()),
        }
    }

    /// Writes one result as a row, with exactly the bytes that [`render`](crate::render) writes for
    /// the row.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row(&mut self, result: &ResultView<'_>) -> io::Result<()> {
        match self.format {
            RowFormat::Csv => write_line(Dialect::Csv, self.columns, result, &mut self.out),
            RowFormat::Tsv => write_line(Dialect::Tsv, self.columns, result, &mut self.out),
            RowFormat::Jsonl => write_object(self.columns, result, &mut self.out),
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
}

fn write_header_line(
    dialect: Dialect,
    columns: RowColumns<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = Line::begin(dialect, out);
    for name in ROW_NAMES {
        line.plain(name.as_bytes())?;
    }
    for field in columns.fields {
        line.plain(field.key.as_str().as_bytes())?;
    }
    for column in columns.lens {
        line.plain(column.name.as_str().as_bytes())?;
    }
    line.end()
}

fn write_line(
    dialect: Dialect,
    columns: RowColumns<'_>,
    result: &ResultView<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut line = Line::begin(dialect, out);
    line.plain(&id_text(result.id))?;
    line.text(result.reference.unwrap_or_default())?;
    line.plain(Decimal::from(result.version).as_bytes())?;
    line.plain(result.status.name().as_bytes())?;
    line.text(result.status.error().unwrap_or_default())?;
    line.plain(&iso_8601(result.created_at))?;
    for field in columns.fields {
        line.text(result.field(&field.key).unwrap_or_default())?;
    }
    for value in result.values(columns.lens) {
        line.value(value)?;
    }
    line.end()
}

fn write_object(
    columns: RowColumns<'_>,
    result: &ResultView<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut row = ObjectWriter::begin(out)?;
    row.plain_string("result_id", &id_text(result.id))?;
    row.string_or_null("ref", result.reference)?;
    row.number("version", result.version.into())?;
    row.plain_string("status", result.status.name().as_bytes())?;
    row.string_or_null("error", result.status.error())?;
    row.plain_string("created_at", &iso_8601(result.created_at))?;
    for field in columns.fields {
        row.string(
            field.key.as_str(),
            result.field(&field.key).unwrap_or_default(),
        )?;
    }
    for (column, value) in columns.lens.iter().zip(result.values(columns.lens)) {
        write_value(row.key(column.name.as_str())?, value)?;
    }
    row.end()?;
    out.write_all(b"\n")
}
