//! The input: opened once, read any number of times, and watched for changes.

use std::io::{self, Read};
use std::path::Path;

use super::column_mapping::WantedColumns;
use super::csv_records::{CellSyntax, CsvRecords};
use super::input_error::InputError;
use super::input_kind::{
    InputKind, begins_parquet, begins_workbook, binary_kind, markup_kind, separator_line,
};
use super::input_source::{InputBytes, InputSource, WorkbookSheets};
use super::json_rows::JsonRows;
use super::parquet_file::ParquetFile;
use super::quotes::are_tab_cells_quoted;
use super::raw_row::{OddCells, RawRow};
use super::table_rows::{TableRecords, TableRows, is_own_header};
use super::text_reader::{InputEncoding, InputText, LineEnd, decoded};
use super::workbook::Workbook;
use super::workbook_budget::WorkbookError;

/// Number of bytes at the beginning of a file that tell whether it is text.
const FIRST_BYTES: u64 = 8 * 1024;
/// Number of bytes at the beginning of a text that are searched for the header.
const HEADER_BYTES: u64 = 1024 * 1024;

/// An open input file.
pub struct InputFile {
    bytes: InputBytes,
    content: InputContent,
}

/// The form of a file's content.
enum InputContent {
    Text {
        kind: InputKind,
        encoding: InputEncoding,
        line_end: LineEnd,
        /// Whether the first line names the separator of CSV.
        has_separator_line: bool,
    },
    Workbook(Workbook),
    Parquet(ParquetFile),
}

impl InputFile {
    /// Opens a file and detects its format.
    pub(crate) fn open(
        source: InputSource<'_>,
        wanted: &WantedColumns,
    ) -> Result<Self, InputError> {
        let name = source.name().to_owned();
        let choice = source.choice();
        let is_named = choice.sheet.is_some();
        let bytes = source.open()?;
        let unopened = InputError::Unopened;
        let first = start_of(bytes.read(), FIRST_BYTES).map_err(unopened)?;
        if begins_workbook(&first) {
            let content = InputContent::Workbook(Workbook::open(bytes.clone(), choice)?);
            return Ok(Self { bytes, content });
        }
        let content = Self::open_other(&name, &bytes, &first, wanted)?;
        let file = Self { bytes, content };
        if is_named {
            return Err(InputError::NoSheets {
                kind: file.kind().describe(),
            });
        }
        Ok(file)
    }

    /// Detects the format of a file that is no workbook.
    fn open_other(
        name: &Path,
        bytes: &InputBytes,
        first: &[u8],
        wanted: &WantedColumns,
    ) -> Result<InputContent, InputError> {
        let unopened = InputError::Unopened;
        if begins_parquet(first) {
            return Ok(InputContent::Parquet(ParquetFile::open(bytes.clone())?));
        }
        let is_utf_16 = InputEncoding::utf_16(first).is_some();
        if let Some(kind) = binary_kind(first).filter(|_| !is_utf_16) {
            return Err(InputError::Binary(kind));
        }
        let encoding = InputEncoding::detect(bytes.read()).map_err(unopened)?;
        let text = decoded(bytes.read(), encoding);
        let start = start_of(text, HEADER_BYTES).map_err(unopened)?;
        if let Some(kind) = markup_kind(&start) {
            return Err(InputError::Binary(kind));
        }
        if has_ending(name, "parquet") {
            return Err(InputError::DamagedParquet { row: 0 });
        }
        if has_ending(name, "xlsx") && !first.trim_ascii().is_empty() {
            return Err(WorkbookError::Damaged.into());
        }
        let line_end = LineEnd::detect(&start);
        let mut kind = InputKind::detect(name, &start, wanted)?;
        if let InputKind::Tsv { is_quoted } = &mut kind {
            let text = InputText::new(bytes.read(), encoding, line_end).text;
            *is_quoted =
                are_tab_cells_quoted(text, &start, is_own_header(&start)).map_err(unopened)?;
        }
        let is_csv = matches!(kind, InputKind::Csv { .. });
        Ok(InputContent::Text {
            kind,
            encoding,
            line_end,
            has_separator_line: is_csv && separator_line(&start).is_some(),
        })
    }

    /// The format of the file.
    pub fn kind(&self) -> InputKind {
        match self.content {
            InputContent::Text { kind, .. } => kind,
            InputContent::Workbook(_) => InputKind::Workbook,
            InputContent::Parquet(_) => InputKind::Parquet,
        }
    }

    /// The encoding of the file; UTF-8 for a workbook and for Parquet.
    pub fn encoding(&self) -> InputEncoding {
        match self.content {
            InputContent::Text { encoding, .. } => encoding,
            InputContent::Workbook(_) | InputContent::Parquet(_) => InputEncoding::Utf8,
        }
    }

    /// Format, encoding and sheet, for people.
    pub fn describe(&self) -> String {
        let (kind, encoding) = match &self.content {
            InputContent::Text { kind, encoding, .. } => (kind.describe(), *encoding),
            InputContent::Workbook(workbook) => return workbook.describe(),
            InputContent::Parquet(_) => (InputKind::Parquet.describe(), InputEncoding::Utf8),
        };
        match encoding {
            InputEncoding::Utf8 => kind.to_owned(),
            InputEncoding::Utf16Le | InputEncoding::Utf16Be | InputEncoding::Windows1252 => {
                format!("{kind}, read as {}", encoding.describe())
            }
        }
    }

    /// The sheet that is read; `None` for a file without sheets.
    pub(crate) fn sheets(&self) -> Option<WorkbookSheets> {
        match &self.content {
            InputContent::Workbook(workbook) => Some(workbook.sheets()),
            InputContent::Text { .. } | InputContent::Parquet(_) => None,
        }
    }

    /// Reads the rows from the beginning.
    pub(crate) fn rows(&self, wanted: &WantedColumns) -> Result<RawRows, InputError> {
        let (kind, has_separator_line, text) = match &self.content {
            InputContent::Text {
                kind,
                encoding,
                line_end,
                has_separator_line,
            } => (
                *kind,
                *has_separator_line,
                InputText::new(self.bytes.read(), *encoding, *line_end),
            ),
            InputContent::Workbook(workbook) => {
                let records = TableRecords::Sheet(workbook.records()?);
                let rows = table(records, InputEncoding::Utf8, wanted);
                return rows.map_err(|error| {
                    if matches!(error, InputError::Empty) {
                        workbook.empty()
                    } else {
                        error
                    }
                });
            }
            InputContent::Parquet(file) => {
                let records = TableRecords::Parquet(Box::new(file.records()));
                return table(records, InputEncoding::Utf8, wanted);
            }
        };
        let (separator, is_quoted) = match kind {
            InputKind::Csv { separator } => (separator, true),
            InputKind::Tsv { is_quoted } => (b'\t', is_quoted),
            InputKind::JsonLines | InputKind::Json | InputKind::Workbook | InputKind::Parquet => {
                let are_lines = kind != InputKind::Json;
                let rows = JsonRows::begin(text, wanted, are_lines);
                return Ok(RawRows::Json(Box::new(rows)));
            }
        };
        let syntax = CellSyntax {
            separator,
            is_quoted,
            has_separator_line,
        };
        let encoding = text.encoding;
        let records = CsvRecords::begin(text, syntax)?;
        table(TableRecords::Csv(Box::new(records)), encoding, wanted)
    }

    /// Fails if the file has changed since it was opened. `line` is the reader's position.
    pub(crate) fn check_unchanged(&self, line: u64) -> Result<(), InputError> {
        self.bytes.check_unchanged(line)
    }
}

fn has_ending(name: &Path, ending: &str) -> bool {
    let found = name.extension().and_then(|found| found.to_str());
    found.is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

fn table(
    records: TableRecords,
    encoding: InputEncoding,
    wanted: &WantedColumns,
) -> Result<RawRows, InputError> {
    let rows = TableRows::begin(records, encoding, wanted)?;
    Ok(RawRows::Table(Box::new(rows)))
}

/// At most this many first bytes.
fn start_of(bytes: Box<dyn Read + Send>, limit: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    bytes.take(limit).read_to_end(&mut start)?;
    Ok(start)
}

/// The rows of a file of any format.
pub(crate) enum RawRows {
    Table(Box<TableRows>),
    Json(Box<JsonRows>),
}

impl RawRows {
    /// The next row; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputError> {
        match self {
            Self::Table(rows) => rows.next(),
            Self::Json(rows) => rows.next(),
        }
    }

    /// The names of all columns. For JSON Lines, the wanted ones, then the other keys found so far.
    pub(crate) fn columns(&self) -> Vec<String> {
        match self {
            Self::Table(rows) => rows.header().to_vec(),
            Self::Json(rows) => rows.columns(),
        }
    }

    /// The cells of the row read last in these columns, as text.
    pub(crate) fn cells_of_last(&self, columns: &[String]) -> Vec<String> {
        match self {
            Self::Table(rows) => rows.cells_of_last(columns.len()),
            Self::Json(rows) => rows.cells_of_last(columns),
        }
    }

    /// What was odd about the cells of the rows so far; nothing for text files.
    pub(crate) fn odd_cells(&self) -> OddCells {
        match self {
            Self::Table(rows) => rows.odd_cells(),
            Self::Json(_) => OddCells::default(),
        }
    }

    /// Names of the columns that are not wanted. For JSON Lines, the keys found so far.
    pub(crate) fn unused_columns(&self) -> Vec<String> {
        match self {
            Self::Table(rows) => rows.unused_columns().to_vec(),
            Self::Json(rows) => rows.unused_columns(),
        }
    }

    /// The first wanted column of Parquet whose values no cell holds, and their JSON type.
    pub(crate) fn nested_column(&self) -> Option<(&str, &'static str)> {
        match self {
            Self::Table(rows) => rows.nested_column(),
            Self::Json(_) => None,
        }
    }

    /// The unused columns of Parquet whose values no cell holds.
    pub(crate) fn unused_nested(&self) -> Vec<String> {
        match self {
            Self::Table(rows) => rows.unused_nested(),
            Self::Json(_) => Vec::new(),
        }
    }

    /// For each wanted column, whether the file has it. `None` for JSON Lines, whose rows may have
    /// different keys.
    pub(crate) fn has_columns(&self) -> Option<Vec<bool>> {
        match self {
            Self::Table(rows) => Some(rows.has_columns()),
            Self::Json(_) => None,
        }
    }
}
