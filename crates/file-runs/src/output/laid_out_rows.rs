//! The rows of a run in any layout.

use std::io::{self, Write};

use refract_domain::result::{ResultView, RowColumns};
use refract_lens_rendering::{FurtherColumn, FurtherValue, RefusedRowView, RowFormat, RowWriter};

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

/// Results as rows of cells with types: the bytes of a file that is valid only with its last piece.
pub enum TypedRows {
    /// The columns of a Parquet file.
    Parquet(Box<ParquetRows>),
    /// The sheet of a workbook.
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
                LaidOutRows::Typed(TypedRows::parquet(columns, own, &[])?, out)
            }
            OutputFormat::Workbook => {
                LaidOutRows::Typed(TypedRows::workbook(columns, own, &[])?, out)
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
        let rows = rows.with_style(self.style);
        match own {
            Some(own) => rows.beside(own),
            None => rows,
        }
    }
}

impl TypedRows {
    /// A Parquet file with these columns. Those of another table come first, in place of `ref` and the
    /// fields; further ones come last.
    ///
    /// # Errors
    /// When two columns have the same name, or this build leaves Parquet out.
    pub fn parquet(
        columns: RowColumns<'_>,
        own: Option<&[String]>,
        further: &[FurtherColumn],
    ) -> io::Result<Self> {
        let rows = ParquetRows::new(columns, own, further)?;
        Ok(Self::Parquet(Box::new(rows)))
    }

    /// A workbook with these columns, as [`Self::parquet`].
    ///
    /// # Errors
    /// When there are more columns than a sheet has, or this build leaves workbooks out.
    pub fn workbook(
        columns: RowColumns<'_>,
        own: Option<&[String]>,
        further: &[FurtherColumn],
    ) -> io::Result<Self> {
        let rows = WorkbookRows::new(columns, own, further)?;
        Ok(Self::Workbook(Box::new(rows)))
    }

    /// Adds a result with the cells of another table's row and the values of further columns. Returns
    /// the bytes that are ready, mostly none.
    ///
    /// # Errors
    /// When the rows cannot be encoded, or the sheet is full.
    pub fn write<'v>(
        &mut self,
        cells: &[String],
        result: &ResultView<'v>,
        further: impl IntoIterator<Item = FurtherValue<'v>>,
    ) -> io::Result<Vec<u8>> {
        match self {
            Self::Parquet(rows) => rows.write(cells, result, further),
            Self::Workbook(rows) => rows.write(cells, result, further),
        }
    }

    /// Adds a refused row beside the cells of another table's row, as [`Self::write`].
    ///
    /// # Errors
    /// When the rows cannot be encoded, or the sheet is full.
    pub(crate) fn write_refused(
        &mut self,
        cells: &[String],
        row: &RefusedRowView<'_>,
    ) -> io::Result<Vec<u8>> {
        match self {
            Self::Parquet(rows) => rows.write_refused(cells, row),
            Self::Workbook(rows) => rows.write_refused(cells, row),
        }
    }

    /// Number of texts that were too long for a cell of the format, and so were cut.
    pub fn cut_texts(&self) -> u64 {
        match self {
            Self::Workbook(rows) => rows.cut_texts(),
            Self::Parquet(_) => 0,
        }
    }

    /// Ends the file and returns its last bytes.
    ///
    /// # Errors
    /// When the last rows cannot be encoded.
    pub fn finish(self) -> io::Result<Vec<u8>> {
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
            Self::Typed(rows, out) => out.write_all(&rows.write(cells, result, [])?),
        }
    }

    /// Number of texts that were too long for a cell of the format, and so were cut.
    pub(crate) fn cut_texts(&self) -> u64 {
        match self {
            Self::Typed(rows, _) => rows.cut_texts(),
            Self::Text(_) => 0,
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
