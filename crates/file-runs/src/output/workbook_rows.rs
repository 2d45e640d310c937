//! Writes results and marks as Excel workbooks: rows of cells with types under a header that stays in
//! sight.

use std::io;

use refract_domain::key::{ColumnName, FieldKey};
use refract_domain::lens::{Column, Value};
use refract_domain::result::view::{ResultView, RowColumns};
use refract_lens_rendering::cell_text;

use super::parquet_rows::columns::{ColumnKind, columns};
use super::workbook_writer::{SheetCell, SheetColumn, WorkbookWriter};

/// The name of the sheet.
const SHEET: &str = "Results";
/// Columns of results that hold short texts.
const SHORT: [&str; 3] = ["result_id", "ref", "status"];

/// Results as the bytes of a workbook, piece by piece, in the columns of the API's rows.
///
/// Probabilities, averages and numbers of levels are numbers, and `created_at` is a moment in UTC.
pub struct WorkbookRows {
    fields: Vec<FieldKey>,
    lens: Vec<Column>,
    /// Number of columns of another table, which take the place of `ref` and the fields.
    own: Option<usize>,
    writer: WorkbookWriter,
}

impl WorkbookRows {
    /// Rows with these columns. Those of another table come first, in place of `ref` and the
    /// fields; those of marks come last.
    ///
    /// # Errors
    /// When there are more columns than a sheet has.
    pub fn new(
        row: RowColumns<'_>,
        own: Option<&[String]>,
        marked: &[ColumnName],
    ) -> io::Result<Self> {
        let texts = own.map_or(row.fields.len(), <[String]>::len);
        let is_field = |name: &str, place: usize| match own {
            Some(_) => place < texts,
            None => row.fields.iter().any(|field| field.key.as_str() == name),
        };
        let layout = columns(row, own, marked).into_iter().enumerate();
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
            fields: row.fields.iter().map(|field| field.key.clone()).collect(),
            lens: row.lens.to_vec(),
            own: own.map(<[String]>::len),
            writer: WorkbookWriter::new(SHEET, &layout.collect::<Vec<_>>())?,
        })
    }

    /// Adds a result with the cells of another table's row and the values of its marks. Returns the
    /// bytes that are ready, mostly none.
    ///
    /// # Errors
    /// When the sheet is full.
    pub fn write<'v>(
        &mut self,
        cells: &[String],
        result: &ResultView<'v>,
        marks: impl IntoIterator<Item = Value<'v>>,
    ) -> io::Result<Vec<u8>> {
        let id = result.id.uuid().hyphenated().to_string();
        let fields = self.fields.iter().map(|field| result.field(field));
        let fields: Vec<_> = fields.map(Option::unwrap_or_default).collect();
        let values = result.values(&self.lens).chain(marks).map(ShownValue::of);
        let values: Vec<_> = values.collect();
        let own = (0..self.own.unwrap_or_default()).map(|index| cells.get(index));
        let mut row: Vec<_> = own
            .map(|cell| SheetCell::Text(cell.map_or("", String::as_str)))
            .collect();
        row.push(SheetCell::Text(&id));
        if self.own.is_none() {
            row.push(SheetCell::Text(result.reference.unwrap_or_default()));
        }
        row.push(SheetCell::Number(f64::from(result.version.get())));
        row.push(SheetCell::Text(result.status.name()));
        row.push(SheetCell::Text(result.status.error().unwrap_or_default()));
        row.push(SheetCell::Moment(result.created_at));
        if self.own.is_none() {
            row.extend(fields.into_iter().map(SheetCell::Text));
        }
        row.extend(values.iter().map(ShownValue::cell));
        self.writer.write_row(row)
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

/// The value of a lens column or of a mark in a cell.
enum ShownValue<'v> {
    Empty,
    Label(&'v str),
    List(String),
    Number(f64),
}

impl<'v> ShownValue<'v> {
    fn of(value: Value<'v>) -> Self {
        match value {
            Value::Null => Self::Empty,
            Value::Outcome { key: _, label } => Self::Label(label),
            Value::YesNo(label) => Self::Label(label.label()),
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
            Self::Label(text) => SheetCell::Text(text),
            Self::List(text) => SheetCell::Text(text),
            Self::Number(number) => SheetCell::Number(*number),
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
