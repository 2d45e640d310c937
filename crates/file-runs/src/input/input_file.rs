//! The input file: opened once, read twice, and watched for changes.

use std::fs::{File, Metadata};
use std::io::Seek as _;
use std::time::SystemTime;

use super::csv_rows::CsvRows;
use super::input_error::InputError;
use super::input_kind::InputKind;
use super::input_source::InputSource;
use super::json_rows::JsonRows;
use super::raw_row::RawRow;
use super::wanted_columns::WantedColumns;

/// An open input file.
pub struct InputFile {
    file: File,
    kind: InputKind,
    as_opened: FileStamp,
}

/// Size and modification time of a file, which change with every write.
#[derive(PartialEq, Eq)]
struct FileStamp {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl FileStamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

impl InputFile {
    /// Opens a file and detects its format.
    pub(crate) fn open(
        source: InputSource<'_>,
        wanted: &WantedColumns,
    ) -> Result<Self, InputError> {
        let name = source.name().to_owned();
        let mut file = source.open()?;
        file.rewind().map_err(InputError::Unopened)?;
        let metadata = file.metadata().map_err(InputError::Unopened)?;
        let as_opened = FileStamp::of(&metadata);
        let kind = InputKind::detect(&name, &mut file, wanted)?;
        Ok(Self {
            file,
            kind,
            as_opened,
        })
    }

    /// The format of the file.
    pub fn kind(&self) -> InputKind {
        self.kind
    }

    /// Reads the rows from the beginning. Only one reader may exist at a time: readers share one
    /// position.
    pub(crate) fn rows(&self, wanted: &WantedColumns) -> Result<RawRows, InputError> {
        let mut file = self.file.try_clone().map_err(InputError::Unopened)?;
        file.rewind().map_err(InputError::Unopened)?;
        match self.kind {
            InputKind::Csv { .. } | InputKind::Tsv => {
                CsvRows::begin(file, self.kind, wanted).map(|rows| RawRows::Csv(Box::new(rows)))
            }
            InputKind::JsonLines => Ok(RawRows::Json(Box::new(JsonRows::begin(file, wanted)))),
        }
    }

    /// Fails if the file has changed since it was opened. `line` is the reader's position.
    pub(crate) fn check_unchanged(&self, line: u64) -> Result<(), InputError> {
        let metadata = self.file.metadata();
        let now = metadata.map_err(|error| InputError::Unreadable { line, error })?;
        if FileStamp::of(&now) == self.as_opened {
            Ok(())
        } else {
            Err(InputError::Changed { line })
        }
    }
}

/// The rows of a file of any format.
pub(crate) enum RawRows {
    Csv(Box<CsvRows>),
    Json(Box<JsonRows>),
}

impl RawRows {
    /// The next row; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputError> {
        match self {
            Self::Csv(rows) => rows.next(),
            Self::Json(rows) => rows.next(),
        }
    }

    /// The names of all columns. For JSON Lines, the wanted ones, then the other keys found so far.
    pub(crate) fn columns(&self) -> Vec<String> {
        match self {
            Self::Csv(rows) => rows.header().to_vec(),
            Self::Json(rows) => rows.columns(),
        }
    }

    /// The cells of the row read last in these columns, as text.
    pub(crate) fn cells_of_last(&self, columns: &[String]) -> Vec<String> {
        match self {
            Self::Csv(rows) => rows.cells_of_last(),
            Self::Json(rows) => rows.cells_of_last(columns),
        }
    }

    /// Names of the columns that are not wanted. For JSON Lines, the keys found so far.
    pub(crate) fn unused_columns(&self) -> Vec<String> {
        match self {
            Self::Csv(rows) => rows.unused_columns().to_vec(),
            Self::Json(rows) => rows.unused_columns(),
        }
    }

    /// For each wanted column, whether the file has it. `None` for JSON Lines, whose rows may have
    /// different keys.
    pub(crate) fn has_columns(&self) -> Option<Vec<bool>> {
        match self {
            Self::Csv(rows) => Some(rows.has_columns()),
            Self::Json(_) => None,
        }
    }
}
