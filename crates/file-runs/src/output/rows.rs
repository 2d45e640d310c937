//! Writes the rows of a run, and counts their values.

use std::io::{self, Write};

use refract_domain::lens::Column;
use refract_domain::result::view::ResultView;
use refract_evaluation::counting::column_tally::ColumnTally;
use refract_lens_rendering::{RowFormat, RowWriter};
use refract_service::runs::PinnedPrism;

/// The rows that are written, and their counts.
pub(crate) struct RunOutput<'a, W> {
    rows: RowWriter<'a, W>,
    lens: &'a [Column],
    columns: Vec<ColumnTally>,
}

impl<'a, W: Write> RunOutput<'a, W> {
    /// An output without rows.
    pub(crate) fn new(prism: &'a PinnedPrism, format: RowFormat, out: W) -> Self {
        let columns = prism.columns();
        let tally =
            |column: &Column| ColumnTally::new(column, prism.version().question(&column.question));
        Self {
            rows: RowWriter::new(format, columns, out),
            lens: columns.lens,
            columns: columns.lens.iter().map(tally).collect(),
        }
    }

    pub(crate) fn write_header(&mut self) -> io::Result<()> {
        self.rows.write_header()
    }

    pub(crate) fn write(&mut self, result: &ResultView<'_>) -> io::Result<()> {
        self.rows.write_row(result)?;
        if result.status.error().is_none() {
            for (tally, value) in self.columns.iter_mut().zip(result.values(self.lens)) {
                tally.add(value);
            }
        }
        Ok(())
    }

    /// Counts of the values in each lens column of the answered rows.
    pub(crate) fn into_columns(self) -> Vec<ColumnTally> {
        self.columns
    }
}
