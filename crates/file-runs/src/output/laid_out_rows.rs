//! The rows of a run in any layout.

use std::io::{self, Write};

use refract_domain::result::view::{ResultView, RowColumns};
use refract_lens_rendering::{RowFormat, RowWriter};

use super::parquet_rows::ParquetRows;
use super::workbook_rows::WorkbookRows;
use super::{OutputFormat, RowLayout};

/// Rows in a layout, beside the columns of the file if there are any, on their way to `W`.
pub(crate) enum LaidOutRows<'a, W> {
    /// Rows of text.
    Text(RowWriter<'a, W>),
    /// Rows of cells with types.
    Typed(TypedRows, W),
}

/// Rows of cells with types, as the bytes of a file that is valid only with its last piece.
pub(crate) enum TypedRows {
    Parquet(Box<ParquetRows>),
    Workbook(Box<WorkbookRows>),
}

impl RowLayout {
    /// A writer of rows in this layout, beside the columns of the file if there are any.
    pub(crate) fn writer<'a, W: Write>(
        self,
        columns: RowColumns<'a>,
        own: Option<&'a [String]>,
        out: W,
    ) -> io::Result<LaidOutRows<'a, W>> {
        Ok(match self.format {
            OutputFormat::Rows(format) => {
                LaidOutRows::Text(self.text_writer(format, columns, own, out))
            }
            OutputFormat::Parquet => {
                let rows = ParquetRows::new(columns, own, &[])?;
                LaidOutRows::Typed(TypedRows::Parquet(Box::new(rows)), out)
            }
            OutputFormat::Workbook => {
                let rows = WorkbookRows::new(columns, own, &[])?;
                LaidOutRows::Typed(TypedRows::Workbook(Box::new(rows)), out)
            }
        })
    }

    /// A writer of rows of text in this layout.
    pub(crate) fn text_writer<'a, W: Write>(
        self,
        format: RowFormat,
        columns: RowColumns<'a>,
        own: Option<&'a [String]>,
        out: W,
    ) -> RowWriter<'a, W> {
        let rows = RowWriter::new(format, columns, out);
        let rows = rows.with_byte_order_mark(self.byte_order_mark);
        match own {
            Some(own) => rows.beside(own),
            None => rows,
        }
    }
}

impl TypedRows {
    /// Adds a row. Returns the bytes that are ready, mostly none.
    pub(crate) fn write(
        &mut self,
        cells: &[String],
        result: &ResultView<'_>,
    ) -> io::Result<Vec<u8>> {
        match self {
            Self::Parquet(rows) => rows.write(cells, result, []),
            Self::Workbook(rows) => rows.write(cells, result, []),
        }
    }

    /// Ends the file and returns its last bytes.
    pub(crate) fn finish(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Parquet(rows) => rows.finish(),
            Self::Workbook(rows) => rows.finish(),
        }
    }
}

impl<W: Write> LaidOutRows<'_, W> {
    /// Writes the header, which some formats have.
    pub(crate) fn write_header(&mut self) -> io::Result<()> {
        match self {
            Self::Text(rows) => rows.write_header(),
            Self::Typed(..) => Ok(()),
        }
    }

    /// Writes a row, beside the cells of its file if these are kept.
    pub(crate) fn write(&mut self, cells: &[String], result: &ResultView<'_>) -> io::Result<()> {
        match self {
            Self::Text(rows) => rows.write_row_beside(cells, result),
            Self::Typed(rows, out) => out.write_all(&rows.write(cells, result)?),
        }
    }

    /// Number of texts that were too long for a cell of the format, and so were cut.
    pub(crate) fn cut_texts(&self) -> u64 {
        match self {
            Self::Typed(TypedRows::Workbook(rows), _) => rows.cut_texts(),
            Self::Typed(TypedRows::Parquet(_), _) | Self::Text(_) => 0,
        }
    }

    /// Ends the output, so that a reader takes the rows that it has.
    pub(crate) fn finish(self) -> io::Result<()> {
        match self {
            Self::Text(_) => Ok(()),
            Self::Typed(rows, mut out) => out.write_all(&rows.finish()?),
        }
    }
}
