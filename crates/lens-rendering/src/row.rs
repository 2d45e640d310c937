//! Rows: one result on each line, under the columns of the prism (spec 4.0).

pub(crate) mod further;

use std::io::{self, Write};

use refract_domain::answer::Decimal;
use refract_domain::key::ROW_NAMES;
use refract_domain::lens::Value;
use refract_domain::prism::{Field, VersionNumber};
use refract_domain::result::{ResultView, RowColumns};

use crate::cell::{Dialect, Line};
use crate::json::{ObjectWriter, id_text, iso_8601, write_further, write_value};
use crate::row::further::FurtherValue;
use crate::{RowFormat, TableStyle};

/// The byte order mark of UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The name of the row column with the caller's own reference.
const REF: &str = "ref";

/// A row of a file about which the model was not asked, since a limit refuses it. It has no result: its
/// status is `refused`, and its error the reason.
#[derive(Clone, Copy, Debug)]
pub struct RefusedRowView<'a> {
    /// The caller's own reference.
    pub reference: Option<&'a str>,
    /// Number of the version that was to answer.
    pub version: VersionNumber,
    /// Why the row is refused.
    pub reason: &'a str,
    /// Keys and values of fields, in any order.
    pub fields: &'a [(&'a str, &'a str)],
}

impl<'a> RefusedRowView<'a> {
    /// The value of `status`.
    pub const STATUS: &'static str = "refused";

    /// The value of a field; empty if the row has none.
    pub fn field(&self, key: &str) -> &'a str {
        let found = self.fields.iter().find(|(name, _)| *name == key);
        found.map_or("", |(_, value)| value)
    }
}

/// Writes any number of results as rows under one header.
///
/// Every cell takes a few small writes: wrap a file or a socket in a [`BufWriter`](io::BufWriter).
#[derive(Debug)]
pub struct RowWriter<'a, W> {
    format: RowFormat,
    columns: RowColumns<'a>,
    /// The columns of another table, in place of `ref` and the fields.
    own: Option<&'a [String]>,
    /// The names of columns after those of the lens.
    further: Vec<&'a str>,
    style: TableStyle,
    out: W,
}

impl<'a, W: Write> RowWriter<'a, W> {
    /// Makes a writer of rows with these columns; writes nothing yet.
    pub fn new(format: RowFormat, columns: RowColumns<'a>, out: W) -> Self {
        Self {
            format,
            columns,
            own: None,
            further: Vec::new(),
            style: TableStyle::Plain,
            out,
        }
    }

    /// Adds columns with these names, of marks or others, after those that there are. The API's rows
    /// have none. Their values are those of [`RowWriter::write_marked_row`].
    #[must_use]
    pub fn with_further(mut self, names: impl IntoIterator<Item = &'a str>) -> Self {
        self.further.extend(names);
        self
    }

    /// Puts the rows beside those of another table: its columns come first, in place of `ref` and
    /// the fields, which it holds. Its names must differ from each other and from those of the other
    /// columns.
    #[must_use]
    pub fn beside(self, own: &'a [String]) -> Self {
        Self {
            own: Some(own),
            ..self
        }
    }

    /// Writes csv and tsv in this style. The API's rows are plain.
    #[must_use]
    pub fn with_style(self, style: TableStyle) -> Self {
        Self { style, ..self }
    }

    /// Writes the header; jsonl has none.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_header(&mut self) -> io::Result<()> {
        match self.dialect() {
            Some(dialect) => self.write_header_line(dialect),
            None => Ok(()),
        }
    }

    /// Writes one result as a row, byte for byte as [`render`](crate::render) does. [Further
    /// columns](Self::with_further) stay empty.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row(&mut self, result: &ResultView<'_>) -> io::Result<()> {
        self.write_marked_row(result, std::iter::empty::<Value<'_>>())
    }

    /// Writes one result beside the cells of [another table's](Self::beside) row. Columns without a
    /// cell stay empty.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_row_beside(
        &mut self,
        cells: &[String],
        result: &ResultView<'_>,
    ) -> io::Result<()> {
        self.write_parts(cells, result, std::iter::repeat(Value::Null.into()))
    }

    /// Writes one result as a row with the values of the [further columns](Self::with_further), in
    /// their order. Columns without a value stay empty.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_marked_row<'v>(
        &mut self,
        result: &ResultView<'_>,
        further: impl IntoIterator<Item = impl Into<FurtherValue<'v>>>,
    ) -> io::Result<()> {
        let missing = std::iter::repeat(Value::Null.into());
        let further = further.into_iter().map(Into::into);
        self.write_parts(&[], result, further.chain(missing))
    }

    /// Writes a refused row beside the cells of [another table's](Self::beside) row. It has no id, no
    /// moment and no answers.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_refused_row(
        &mut self,
        cells: &[String],
        row: &RefusedRowView<'_>,
    ) -> io::Result<()> {
        match self.dialect() {
            Some(dialect) => self.write_refused_line(dialect, cells, row),
            None => self.write_refused_object(cells, row),
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

    fn write_parts<'v>(
        &mut self,
        cells: &[String],
        result: &ResultView<'_>,
        further: impl Iterator<Item = FurtherValue<'v>>,
    ) -> io::Result<()> {
        match self.dialect() {
            Some(dialect) => self.write_line(dialect, cells, result, further),
            None => self.write_object(cells, result, further),
        }
    }

    /// The dialect of lines of cells; `None` for jsonl.
    fn dialect(&self) -> Option<Dialect> {
        match (self.format, self.style) {
            (RowFormat::Csv, TableStyle::Plain | TableStyle::Excel) => Some(Dialect::Csv),
            (RowFormat::Csv, TableStyle::ExcelWithCommas) => Some(Dialect::CsvWithCommas),
            (RowFormat::Tsv, _) => Some(Dialect::Tsv),
            (RowFormat::Jsonl, _) => None,
        }
    }

    fn write_header_line(&mut self, dialect: Dialect) -> io::Result<()> {
        if self.style != TableStyle::Plain {
            self.out.write_all(BYTE_ORDER_MARK)?;
        }
        let fields = self.fields();
        let mut line = Line::begin(dialect, &mut self.out);
        for name in self.own.unwrap_or_default() {
            line.text(name)?;
        }
        let is_held = |name: &str| self.own.is_some() && name == REF;
        for name in ROW_NAMES.into_iter().filter(|name| !is_held(name)) {
            line.plain(name.as_bytes())?;
        }
        for field in fields {
            line.plain(field.key.as_str().as_bytes())?;
        }
        let columns = self.columns.lens.iter();
        let columns = columns.map(|column| column.name.as_str());
        for name in columns.chain(self.further.iter().copied()) {
            line.plain(name.as_bytes())?;
        }
        line.end()
    }

    fn write_line<'v>(
        &mut self,
        dialect: Dialect,
        cells: &[String],
        result: &ResultView<'_>,
        further: impl Iterator<Item = FurtherValue<'v>>,
    ) -> io::Result<()> {
        let fields = self.fields();
        let mut line = Line::begin(dialect, &mut self.out);
        for (_, cell) in own_cells(self.own, cells) {
            line.cell(cell)?;
        }
        line.plain(&id_text(result.id))?;
        if self.own.is_none() {
            line.text(result.reference.unwrap_or_default())?;
        }
        line.plain(Decimal::from(result.version).as_bytes())?;
        line.plain(result.status.name().as_bytes())?;
        line.text(result.status.error().unwrap_or_default())?;
        line.plain(&iso_8601(result.created_at))?;
        for field in fields {
            line.text(result.field(&field.key).unwrap_or_default())?;
        }
        for value in result.values(self.columns.lens) {
            line.value(value)?;
        }
        for value in further.take(self.further.len()) {
            line.further(value)?;
        }
        line.end()
    }

    fn write_object<'v>(
        &mut self,
        cells: &[String],
        result: &ResultView<'_>,
        further: impl Iterator<Item = FurtherValue<'v>>,
    ) -> io::Result<()> {
        let fields = self.fields();
        let mut row = ObjectWriter::begin(&mut self.out)?;
        for (name, cell) in own_cells(self.own, cells) {
            row.string_under(name, cell)?;
        }
        row.plain_string("result_id", &id_text(result.id))?;
        if self.own.is_none() {
            row.string_or_null(REF, result.reference)?;
        }
        row.number("version", result.version.into())?;
        row.plain_string("status", result.status.name().as_bytes())?;
        row.string_or_null("error", result.status.error())?;
        row.plain_string("created_at", &iso_8601(result.created_at))?;
        for field in fields {
            row.string(
                field.key.as_str(),
                result.field(&field.key).unwrap_or_default(),
            )?;
        }
        let lens = self.columns.lens;
        for (column, value) in lens.iter().zip(result.values(lens)) {
            write_value(row.key(column.name.as_str())?, value)?;
        }
        for (name, value) in self.further.iter().zip(further) {
            write_further(row.key(name)?, value)?;
        }
        row.end()?;
        self.out.write_all(b"\n")
    }

    fn write_refused_line(
        &mut self,
        dialect: Dialect,
        cells: &[String],
        row: &RefusedRowView<'_>,
    ) -> io::Result<()> {
        let fields = self.fields();
        let answers = self.columns.lens.len() + self.further.len();
        let mut line = Line::begin(dialect, &mut self.out);
        for (_, cell) in own_cells(self.own, cells) {
            line.cell(cell)?;
        }
        line.plain(b"")?;
        if self.own.is_none() {
            line.text(row.reference.unwrap_or_default())?;
        }
        line.plain(Decimal::from(row.version).as_bytes())?;
        line.plain(RefusedRowView::STATUS.as_bytes())?;
        line.text(row.reason)?;
        line.plain(b"")?;
        for field in fields {
            line.text(row.field(field.key.as_str()))?;
        }
        for _ in 0..answers {
            line.plain(b"")?;
        }
        line.end()
    }

    fn write_refused_object(
        &mut self,
        cells: &[String],
        row: &RefusedRowView<'_>,
    ) -> io::Result<()> {
        let fields = self.fields();
        let mut object = ObjectWriter::begin(&mut self.out)?;
        for (name, cell) in own_cells(self.own, cells) {
            object.string_under(name, cell)?;
        }
        object.string_or_null("result_id", None)?;
        if self.own.is_none() {
            object.string_or_null(REF, row.reference)?;
        }
        object.number("version", row.version.into())?;
        object.plain_string("status", RefusedRowView::STATUS.as_bytes())?;
        object.string("error", row.reason)?;
        object.string_or_null("created_at", None)?;
        for field in fields {
            let key = field.key.as_str();
            object.string(key, row.field(key))?;
        }
        let lens = self.columns.lens.iter().map(|column| column.name.as_str());
        for name in lens.chain(self.further.iter().copied()) {
            object.string_or_null(name, None)?;
        }
        object.end()?;
        self.out.write_all(b"\n")
    }

    /// The fields with columns; none beside another table, which holds them.
    fn fields(&self) -> &'a [Field] {
        match self.own {
            None => self.columns.fields,
            Some(_) => &[],
        }
    }
}

/// The columns of another table with the cells of a row.
fn own_cells<'c>(
    own: Option<&'c [String]>,
    cells: &'c [String],
) -> impl Iterator<Item = (&'c str, &'c str)> {
    let cells = cells.iter().map(String::as_str);
    let cells = cells.chain(std::iter::repeat(""));
    own.unwrap_or_default()
        .iter()
        .map(String::as_str)
        .zip(cells)
}
