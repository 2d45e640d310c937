//! The file itself: opened once, read twice, and watched meanwhile.

use std::fs::{File, Metadata};
use std::io::Seek as _;
use std::path::Path;
use std::time::SystemTime;

use super::csv_rows::CsvRows;
use super::json_rows::JsonRows;
use super::{InputFault, InputKind, RawRow, Wanted};

/// An open file that is to be run.
pub struct InputFile {
    file: File,
    kind: InputKind,
    as_opened: State,
}

/// What changes when a file is written to.
#[derive(PartialEq, Eq)]
struct State {
    bytes: u64,
    modified: Option<SystemTime>,
}

impl State {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        }
    }
}

impl InputFile {
    /// Opens it and finds out how it is written.
    pub(crate) fn open(path: &Path, wanted: &Wanted) -> Result<Self, InputFault> {
        let mut file = File::open(path).map_err(InputFault::Unopened)?;
        let metadata = file.metadata().map_err(InputFault::Unopened)?;
        if !metadata.is_file() {
            return Err(InputFault::NotAFile);
        }
        let as_opened = State::of(&metadata);
        let kind = InputKind::detect(path, &mut file, wanted)?;
        Ok(Self {
            file,
            kind,
            as_opened,
        })
    }

    /// How it is written.
    pub fn kind(&self) -> InputKind {
        self.kind
    }

    /// Its rows from the beginning. One reading at a time: they share the place in the file.
    pub(crate) fn rows(&self, wanted: &Wanted) -> Result<RawRows, InputFault> {
        let mut file = self.file.try_clone().map_err(InputFault::Unopened)?;
        file.rewind().map_err(InputFault::Unopened)?;
        match self.kind {
            InputKind::Csv { .. } | InputKind::Tsv => {
                CsvRows::begin(file, self.kind, wanted).map(|rows| RawRows::Csv(Box::new(rows)))
            }
            InputKind::JsonLines => Ok(RawRows::Json(Box::new(JsonRows::begin(file, wanted)))),
        }
    }

    /// Whether it is as it was when it was opened.
    pub(crate) fn check_unchanged(&self, line: u64) -> Result<(), InputFault> {
        let metadata = self.file.metadata();
        let now = metadata.map_err(|error| InputFault::Unreadable { line, error })?;
        if State::of(&now) == self.as_opened {
            Ok(())
        } else {
            Err(InputFault::Changed { line })
        }
    }
}

/// Rows, however they are written.
pub(crate) enum RawRows {
    Csv(Box<CsvRows>),
    Json(Box<JsonRows>),
}

impl RawRows {
    pub(crate) fn next(&mut self) -> Result<Option<RawRow>, InputFault> {
        match self {
            Self::Csv(rows) => rows.next(),
            Self::Json(rows) => rows.next(),
        }
    }

    /// Columns that nobody wants; of JSON, of the rows so far.
    pub(crate) fn passed_by(&self) -> Vec<String> {
        match self {
            Self::Csv(rows) => rows.passed_by().to_vec(),
            Self::Json(rows) => rows.passed_by(),
        }
    }
}
