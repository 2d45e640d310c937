//! Writes the rows of a run, and counts their values.

use std::io::{self, Write};

use refract_domain::lens::Column;
use refract_domain::result::view::ResultView;
use refract_evaluation::counting::column_tally::ColumnTally;
use refract_lens_rendering::RowWriter;
use refract_service::runs::PinnedPrism;

use crate::output::row_layout::RowLayout;

/// The rows that are written, and their counts.
pub(crate) struct RunOutput<'a, W> {
    rows: RowWriter<'a, W>,
    lens: &'a [Column],
    columns: Vec<ColumnTally>,
}

impl<'a, W: Write> RunOutput<'a, W> {
    /// An output without rows. Rows stand beside the columns of the file, if there are `own`.
    pub(crate) fn new(
        prism: &'a PinnedPrism,
        layout: RowLayout,
        own: Option<&'a [String]>,
        out: W,
    ) -> Self {
        let columns = prism.columns();
        let tally =
            |column: &Column| ColumnTally::new(column, prism.version().question(&column.question));
        Self {
            rows: layout.writer(columns, own, out),
            lens: columns.lens,
            columns: columns.lens.iter().map(tally).collect(),
        }
    }

    pub(crate) fn write_header(&mut self) -> io::Result<()> {
        self.rows.write_header()
    }

    /// Writes a row, beside the cells of its file if these are kept.
    pub(crate) fn write(&mut self, cells: &[String], result: &ResultView<'_>) -> io::Result<()> {
        self.rows.write_row_beside(cells, result)?;
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
