//! Lists the refused rows with all their cells: a file to correct and run again. So cells stand as they
//! came, without the quote that guards results against formulas.

use std::io::{self, Write};
use std::sync::Arc;

/// Columns of the list before those of the file.
const HEADER: [&str; 2] = ["line", "reason"];

/// A refused row.
#[derive(Debug)]
pub(crate) struct ListedRow {
    /// The line on which the row begins.
    pub(crate) line: u64,
    /// Why the row is refused; the reason repeats none of its values.
    pub(crate) reason: String,
    /// The row's cells; empty if no list is written.
    pub(crate) cells: Vec<String>,
}

/// Writes the list of a run as CSV, or nothing if none is wanted.
pub(crate) struct RefusedRows<'a> {
    out: Option<&'a mut dyn Write>,
    columns: Arc<[String]>,
}

impl<'a> RefusedRows<'a> {
    /// A list of rows with these columns. `None` for `out` writes nothing.
    pub(crate) fn new(out: Option<&'a mut dyn Write>, columns: &[String]) -> Self {
        let columns = if out.is_some() { columns } else { &[] };
        Self {
            out,
            columns: columns.into(),
        }
    }

    pub(crate) fn write_header(&mut self) -> io::Result<()> {
        let columns = self.columns.iter().map(String::as_str);
        match &mut self.out {
            Some(out) => write_line(HEADER.into_iter().chain(columns), out),
            None => Ok(()),
        }
    }

    pub(crate) fn write(&mut self, row: &ListedRow) -> io::Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        let line = row.line.to_string();
        let own = row.cells.iter().map(String::as_str);
        write_line([line.as_str(), &row.reason].into_iter().chain(own), out)
    }
}

fn write_line<'a>(cells: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    csv.write_record(cells)?;
    csv.flush()
}
