//! Renders results as json, raw, csv, tsv and jsonl through a lens (spec 2.5, 2.6, 4.0).
//!
//! It turns plain borrowed data into bytes and knows nothing of databases, HTTP, files or clocks.

mod cell;
mod envelope;
mod format;
mod json;
mod plain;
mod row;

use std::io::{self, Write};

use refract_domain::view::{Columns, ResultView};

pub use crate::format::{Format, RowFormat};
pub use crate::row::RowWriter;

/// Writes one result: the body of an answer in this format. Csv and tsv have a header and one row.
///
/// # Errors
/// When `out` cannot be written to.
pub fn render(
    format: Format,
    columns: &Columns<'_>,
    result: &ResultView<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let row_format = match format {
        Format::Json => return envelope::write_json(columns.lens, result, out),
        Format::Raw => return envelope::write_raw(result, out),
        Format::Csv => RowFormat::Csv,
        Format::Tsv => RowFormat::Tsv,
        Format::Jsonl => RowFormat::Jsonl,
    };
    let mut rows = RowWriter::new(row_format, *columns, out);
    rows.write_header()?;
    rows.write_row(result)
}
