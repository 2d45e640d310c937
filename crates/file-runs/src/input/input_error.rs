//! Errors of a file, each as one sentence with the line.

use super::quotes::QuoteError;
use super::text_reader::InputEncoding;
use super::workbook_budget::WorkbookError;

/// Why a file cannot be run. The text repeats no values of the file, and only short column names.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The file cannot be opened.
    #[error("it cannot be read: {0}")]
    Unopened(std::io::Error),
    /// The path names a folder.
    #[error("it is a folder: name a file in it")]
    Folder,
    /// A stream can be read only once, and its copy for the second reading could not be stored.
    #[error(
        "it cannot be kept in {folder} to be read twice: {error} (TMPDIR names another folder)"
    )]
    Unkept {
        /// The folder of temporary files.
        folder: String,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file is a workbook that cannot be read.
    #[error(transparent)]
    Workbook(#[from] WorkbookError),
    /// The file has a format that this build leaves out.
    #[error(
        "this refract was built to try it and reads no {0}: use the one of `make build`, or save the \
         table as CSV"
    )]
    NotBuilt(&'static str),
    /// A sheet is named, and the file is no workbook.
    #[error("it is {kind} and has no sheets: leave --sheet out")]
    NoSheets {
        /// The format of the file.
        kind: &'static str,
    },
    /// A sheet is named, and the workbook has none of that name.
    #[error("it has no sheet of that name: it has {sheets}")]
    NoSuchSheet {
        /// The names of the sheets, as readable text.
        sheets: String,
    },
    /// A Parquet file is damaged, or cut off.
    #[error(
        "the Parquet file is damaged or cut off{}: write it again",
        if *row == 0 { String::new() } else { format!(" (at row {row})") }
    )]
    DamagedParquet {
        /// The number of the first row that cannot be read; 0 if none can be.
        row: u64,
    },
    /// A Parquet file is compressed in a way that is not read.
    #[error("it is a Parquet file in Brotli or LZO: write it with Snappy, Zstandard, gzip or LZ4")]
    ParquetCompression,
    /// A row of a Parquet file is longer than 16 MiB.
    #[error("row {row} has over 16 MiB")]
    LongParquetRow {
        /// The row's number, from 1.
        row: u64,
    },
    /// The file has only white space.
    #[error("it is empty")]
    Empty,
    /// The sheet of a workbook is empty, and there are others.
    #[error("its sheet {sheet} is empty: name another one with --sheet: {others}")]
    EmptySheet {
        /// The name of the sheet.
        sheet: String,
        /// The names of the other sheets, as readable text.
        others: String,
    },
    /// The file is not text: its kind and what to do about it.
    #[error("{0}")]
    Binary(&'static str),
    /// A row cannot be decoded.
    #[error("line {line} is not {}: save the file as UTF-8", .encoding.describe())]
    NotText {
        /// The line on which the row begins.
        line: u64,
        /// The encoding of the file.
        encoding: InputEncoding,
    },
    /// A row has fewer or more cells than the header.
    #[error(
        "line {line} has {}, the header has {expected}{}",
        counted(*.found, "cell"),
        cells_advice(*.found, *.expected, *.has_late_quote)
    )]
    WrongCells {
        /// The line on which the row begins.
        line: u64,
        /// Number of cells in the row.
        found: usize,
        /// Number of cells in the header.
        expected: usize,
        /// Whether a cell begins with spaces before a quote, which so is none.
        has_late_quote: bool,
    },
    /// A row of a workbook has a text that was cut off when the workbook was written.
    #[error(
        "line {line} has a text that was cut off where the workbook was written: take csv, jsonl or parquet"
    )]
    CutOff {
        /// The row's number in the sheet.
        line: u64,
    },
    /// A quote is not closed, or a closed one is followed by text.
    #[error(transparent)]
    Quote(#[from] QuoteError),
    /// A row is longer than 16 MiB.
    #[error("line {line} begins a row of over 16 MiB: a quote in it may never be closed")]
    TooLong {
        /// The line on which the row begins.
        line: u64,
    },
    /// A value of a JSON file is not JSON.
    #[error("line {line} is not valid JSON (column {column})")]
    NotJson {
        /// The line.
        line: u64,
        /// The position of the error in the line, in bytes from 1.
        column: usize,
    },
    /// JSON has a number that it does not know.
    #[error(
        "line {line} has NaN or Infinity (column {column}), which JSON does not know: write null"
    )]
    NoJsonNumber {
        /// The line.
        line: u64,
        /// The position of the number in the line, in bytes from 1.
        column: usize,
    },
    /// A JSON file ends inside a value.
    #[error("line {line} begins JSON that never ends: the file may be cut off")]
    CutJson {
        /// The line of the value, or the last one of an array.
        line: u64,
    },
    /// The rows of a JSON file are a list inside its one object.
    #[error(
        "its rows are in a list inside it, {member}: write that list as the whole file, \
         for example with jq '.{member}'"
    )]
    WrappedRows {
        /// The line on which the object begins.
        line: u64,
        /// The name of the object's member with the list.
        member: String,
    },
    /// A row of a JSON file is JSON, but not an object.
    #[error("line {line}: Expected object, received {received}")]
    NotAnObject {
        /// The line.
        line: u64,
        /// The name of the JSON type.
        received: &'static str,
    },
    /// Required columns are missing.
    #[error("it lacks {}: it has {present}", columns(missing))]
    Missing {
        /// Names of the missing columns.
        missing: Vec<String>,
        /// Names of the file's columns, as readable text.
        present: String,
    },
    /// A column that is read has lists or structs, which no cell holds.
    #[error("its column {column}: Expected string, received {received}: write it as text")]
    Nested {
        /// The column's name.
        column: String,
        /// The name of the JSON type.
        received: &'static str,
    },
    /// The first row lacks required columns, and a row below has them.
    #[error(
        "line {first} was taken for the header, and line {header} looks like it: remove the rows above"
    )]
    HeaderBelow {
        /// The line of the first row.
        first: u64,
        /// The line of the row with the required columns.
        header: u64,
    },
    /// No row has a text to ask about.
    #[error("{}", all_blank(*.rows, *.odd))]
    AllBlank {
        /// Number of rows.
        rows: u64,
        /// Whether formulas without a stored value or error cells are among them.
        odd: bool,
    },
    /// Two columns have the name of one wanted column; mappings tell them apart by their numbers.
    #[error("it has two columns that are called {0}")]
    Twice(String),
    /// The file changed during reading.
    #[error("it was changed while it was read, at line {line} or before")]
    Changed {
        /// The first line of the last row read before the change was found.
        line: u64,
    },
    /// Reading failed in the middle of the file.
    #[error("line {line} cannot be read: {error}")]
    Unreadable {
        /// The first line of the row that could not be read.
        line: u64,
        /// The error of the operating system.
        error: std::io::Error,
    },
}

impl InputError {
    /// Whether the sheet that was named is what is wrong, and not the file.
    pub fn is_of_sheet(&self) -> bool {
        matches!(self, Self::NoSheets { .. } | Self::NoSuchSheet { .. })
    }
}

fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// What to do about rows that are wider than the header.
fn cells_advice(found: usize, expected: usize, has_late_quote: bool) -> &'static str {
    if has_late_quote && found > expected {
        ": a quote counts only where a cell begins, so remove the space before it"
    } else if expected == 1 && found > 1 {
        ": if the first row is a title, remove it"
    } else {
        ""
    }
}

fn all_blank(rows: u64, odd: bool) -> String {
    let rows = if rows == 1 {
        "its one row has no text".to_owned()
    } else {
        format!("none of its {rows} rows has a text")
    };
    let why = if odd {
        ", because formulas have no stored value or hold errors: open the workbook in a spreadsheet and save it"
    } else {
        ""
    };
    format!("{rows}{why}")
}

fn columns(names: &[String]) -> String {
    let plural = if names.len() == 1 { "" } else { "s" };
    format!("the column{plural} {}", names.join(", "))
}
