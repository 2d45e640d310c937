//! The rows of a run, read one by one from the file.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;

use crate::file_run::FileRun;
use crate::input::column_mapping::InputColumns;
use crate::input::row::InputRow;
use crate::input::{InputError, InputFile, OddCells, RawRow, RawRows, RawValue, listed};
use crate::run::Shard;

/// Number of rows after which the file is checked for changes.
const ROWS_BETWEEN_CHECKS: u64 = 1024;

/// Reads the rows of a run's shard from the beginning of the file.
pub(crate) struct InputRows {
    raw: RawRows,
    input: Arc<InputFile>,
    columns: InputColumns,
    version: Arc<PrismVersion>,
    shard: Shard,
    /// The number of the last row read, of any shard.
    number: u64,
    /// Number of rows read so far, of all shards, whose fields are all empty.
    blank: u64,
    /// Whether those rows are left out.
    leaves_out_blank: bool,
    line: u64,
    /// For each wanted column, whether any row so far had it.
    seen: Vec<bool>,
    kept: KeptCells,
}

/// The rows whose cells are kept, and the columns of these cells.
#[derive(Clone, Debug)]
pub(crate) enum KeptCells {
    /// No row.
    None,
    /// The refused rows, for their list.
    OfRefused(Arc<[String]>),
    /// All rows, for an output beside the columns of the file.
    OfAll(Arc<[String]>),
}

impl KeptCells {
    /// The columns to keep of a row; `None` to keep none.
    fn columns(&self, is_refused: bool) -> Option<&[String]> {
        match self {
            Self::None => None,
            Self::OfRefused(columns) => is_refused.then_some(columns),
            Self::OfAll(columns) => Some(columns),
        }
    }
}

impl InputRows {
    /// Starts at the beginning of the file.
    pub(crate) fn of(run: &FileRun) -> Result<Self, InputError> {
        let rows = Self::begin(&run.input, &run.columns, run.prism.version(), run.shard)?;
        Ok(Self {
            leaves_out_blank: run.leaves_out_blank,
            ..rows
        })
    }

    /// Starts at the beginning of a file, and reads these columns for a version.
    pub(crate) fn begin(
        input: &Arc<InputFile>,
        columns: &InputColumns,
        version: &Arc<PrismVersion>,
        shard: Shard,
    ) -> Result<Self, InputError> {
        let raw = input.rows(columns.wanted())?;
        if let Some((column, received)) = raw.nested_column() {
            let column = column.to_owned();
            return Err(InputError::Nested { column, received });
        }
        let seen = vec![false; columns.wanted().0.len()];
        Ok(Self {
            raw,
            input: Arc::clone(input),
            columns: columns.clone(),
            version: Arc::clone(version),
            shard,
            number: 0,
            blank: 0,
            leaves_out_blank: false,
            line: 1,
            seen,
            kept: KeptCells::None,
        })
    }

    /// Also keeps the cells of some rows.
    pub(crate) fn keeping(self, kept: KeptCells) -> Self {
        Self { kept, ..self }
    }

    /// The next row of the shard; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<InputRow>, InputError> {
        loop {
            let read = self.raw.next();
            if read.is_err() || self.number.is_multiple_of(ROWS_BETWEEN_CHECKS) {
                // another program may be writing a broken row just now
                self.input.check_unchanged(self.line)?;
            }
            let Some(raw) = read? else {
                self.input.check_unchanged(self.line)?;
                return Ok(None);
            };
            self.number += 1;
            self.line = raw.line;
            for (seen, value) in self.seen.iter_mut().zip(&raw.values) {
                *seen |= !matches!(value, RawValue::Absent { is_null: false });
            }
            let is_blank = is_blank(&raw, self.version.fields().len());
            self.blank += u64::from(is_blank);
            if !self.shard.has(self.number) || is_blank && self.leaves_out_blank {
                continue;
            }
            let mut row = InputRow::read(raw, self.number, &self.version);
            if let Some(columns) = self.kept.columns(row.content.is_err()) {
                row.cells = self.raw.cells_of_last(columns);
            }
            return Ok(Some(row));
        }
    }

    /// Number of rows read so far, of all shards.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Number of rows read so far, of all shards, whose fields are all empty.
    pub(crate) fn blank(&self) -> u64 {
        self.blank
    }

    /// Whether no row so far had a text, and so all were left out.
    pub(crate) fn are_all_left_out(&self) -> bool {
        self.leaves_out_blank && self.number > 0 && self.blank == self.number
    }

    /// What was odd about the cells of the rows so far, of all shards.
    pub(crate) fn odd_cells(&self) -> OddCells {
        self.raw.odd_cells()
    }

    /// The line on which the last row began.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The names of all columns of the file.
    pub(crate) fn columns(&self) -> Vec<String> {
        self.raw.columns()
    }

    /// Names of the columns that the run does not read.
    pub(crate) fn unused_columns(&self) -> Vec<String> {
        self.raw.unused_columns()
    }

    /// Names of the unused columns of Parquet whose values no cell holds.
    pub(crate) fn unused_nested(&self) -> Vec<String> {
        self.raw.unused_nested()
    }

    /// Fails if no row so far had a required column. Only JSON Lines can lack one: opening a file
    /// checks its header.
    pub(crate) fn check_columns(&self) -> Result<(), InputError> {
        let wanted = self.columns.wanted().0.iter().zip(&self.seen);
        let unseen = wanted.filter(|(column, seen)| column.is_required && !**seen);
        let missing: Vec<_> = unseen.map(|(column, _)| column.name.clone()).collect();
        if self.number == 0 || missing.is_empty() {
            return Ok(());
        }
        let present = listed(&self.unused_columns());
        Err(InputError::Missing { missing, present })
    }
}

/// Whether the first values of a row, those of its fields, are all empty or JSON null.
fn is_blank(row: &RawRow, fields: usize) -> bool {
    let mut fields = row.values.iter().take(fields);
    fields.all(|value| match value {
        RawValue::Absent { is_null } => *is_null,
        RawValue::Text { text, .. } => text.trim().is_empty(),
        RawValue::Scalar { .. } | RawValue::NoText(_) => false,
    })
}
