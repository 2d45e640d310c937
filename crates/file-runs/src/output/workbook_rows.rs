//! Writes results and marks as Excel workbooks: rows of cells with types under a header that stays in
//! sight.

use std::io;

use chrono::{DateTime, Utc};
use refract_domain::lens::Value;
use refract_domain::result::{ResultView, RowColumns};
use refract_lens_rendering::{FurtherColumn, FurtherValue, RefusedRowView, cell_text};

use super::row_cells::{ColumnKind, RowCell, RowShape, SheetCell, SheetColumn, columns};
use super::workbook_writer::WorkbookWriter;

/// The name of the sheet.
const SHEET: &str = "Results";
/// Columns of results that hold short texts.
const SHORT: [&str; 3] = ["result_id", "ref", "status"];

/// Results as the bytes of a workbook, piece by piece, in the columns of the API's rows.
///
/// Probabilities, averages and numbers of levels are numbers, and `created_at` is a moment in UTC.
pub struct WorkbookRows {
    shape: RowShape,
    writer: WorkbookWriter,
}

impl WorkbookRows {
    /// Rows with these columns. Those of another table come first, in place of `ref` and the
    /// fields; further ones come last.
    ///
    /// # Errors
    /// When there are more columns than a sheet has.
    pub fn new(
        row: RowColumns<'_>,
        own: Option<&[String]>,
        further: &[FurtherColumn],
    ) -> io::Result<Self> {
        let texts = own.map_or(row.fields.len(), <[String]>::len);
        let is_field = |name: &str, place: usize| match own {
            Some(_) => place < texts,
            None => row.fields.iter().any(|field| field.key.as_str() == name),
        };
        let layout = columns(row, own, further).into_iter().enumerate();
        let layout = layout.map(|(place, (name, kind))| {
            let kind = match kind {
                ColumnKind::Int | ColumnKind::Double => SheetColumn::Number,
                ColumnKind::Moment => SheetColumn::Moment,
                ColumnKind::Text if is_field(&name, place) && !SHORT.contains(&name.as_str()) => {
                    SheetColumn::LongText
                }
                ColumnKind::Text | ColumnKind::Map => SheetColumn::Text,
            };
            (name, kind)
        });
        Ok(Self {
            shape: RowShape::new(row, own),
            writer: WorkbookWriter::new(SHEET, &layout.collect::<Vec<_>>())?,
        })
    }

    /// Adds a result with the cells of another table's row and the values of further columns. Returns the
    /// bytes that are ready, mostly none.
    ///
    /// # Errors
    /// When the sheet is full.
    pub fn write<'v>(
        &mut self,
        cells: &[String],
        result: &ResultView<'v>,
        further: impl IntoIterator<Item = FurtherValue<'v>>,
    ) -> io::Result<Vec<u8>> {
        let id = result.id.uuid().hyphenated().to_string();
        let cells = self.shape.cells(&id, cells, result, further);
        let cells: Vec<_> = cells.map(ShownCell::of).collect();
        self.writer.write_row(cells.iter().map(ShownCell::cell))
    }

    /// Adds a refused row, as [`Self::write`].
    ///
    /// # Errors
    /// When the sheet is full.
    pub fn write_refused(
        &mut self,
        cells: &[String],
        row: &RefusedRowView<'_>,
    ) -> io::Result<Vec<u8>> {
        let cells = self.shape.refused_cells(cells, row);
        let cells: Vec<_> = cells.map(ShownCell::of).collect();
        self.writer.write_row(cells.iter().map(ShownCell::cell))
    }

    /// Number of texts that were too long for a cell, and so were cut.
    pub fn cut_texts(&self) -> u64 {
        self.writer.cut_texts()
    }

    /// Ends the workbook and returns its last bytes.
    ///
    /// # Errors
    /// When the last row cannot be written.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        self.writer.finish()
    }
}

/// A cell as a workbook shows it.
enum ShownCell<'v> {
    Empty,
    Text(&'v str),
    List(String),
    Number(f64),
    Moment(DateTime<Utc>),
}

impl<'v> ShownCell<'v> {
    fn of(cell: RowCell<'v>) -> Self {
        let value = match cell {
            RowCell::Text(text) => return Self::Text(text.unwrap_or_default()),
            RowCell::Int(number) => return Self::Number(f64::from(number)),
            RowCell::Decimal(number) => return number.map_or(Self::Empty, Self::Number),
            RowCell::Moment(moment) => return Self::Moment(moment),
            RowCell::Value(value) => value,
        };
        match value {
            Value::Null => Self::Empty,
            Value::Outcome { key: _, label } => Self::Text(label),
            Value::YesNo(label) => Self::Text(label.label()),
            Value::Probability(probability) => Self::Number(probability.to_f64()),
            Value::Position(position) => Self::Number(f64::from(position)),
            Value::Average(average) => {
                Self::Number(average.to_string().parse().unwrap_or_default())
            }
            Value::All { .. } => Self::List(cell_text(value)),
        }
    }

    fn cell(&self) -> SheetCell<'_> {
        match self {
            Self::Empty => SheetCell::Empty,
            Self::Text(text) => SheetCell::Text(text),
            Self::List(text) => SheetCell::Text(text),
            Self::Number(number) => SheetCell::Number(*number),
            Self::Moment(moment) => SheetCell::Moment(*moment),
        }
    }
}

/// Marked results as the bytes of a workbook, in the columns of the files that `marks import` reads.
pub struct MarksWorkbook(WorkbookWriter);

impl MarksWorkbook {
    /// Rows under this header.
    ///
    /// # Errors
    /// When there are more columns than a sheet has.
    pub fn new(header: &[&str]) -> io::Result<Self> {
        let columns = header
            .iter()
            .map(|name| ((*name).to_owned(), SheetColumn::Text));
        Ok(Self(WorkbookWriter::new(
            "Marks",
            &columns.collect::<Vec<_>>(),
        )?))
    }

    /// Adds a marked result: the texts of its cells. Returns the bytes that are ready, mostly none.
    ///
    /// # Errors
    /// When the sheet is full.
    pub fn write<'c>(&mut self, cells: impl IntoIterator<Item = &'c str>) -> io::Result<Vec<u8>> {
        self.0.write_row(cells.into_iter().map(SheetCell::Text))
    }

    /// Ends the workbook and returns its last bytes.
    ///
    /// # Errors
    /// When the last row cannot be written.
    pub fn finish(self) -> io::Result<Vec<u8>> {
        self.0.finish()
    }
}
