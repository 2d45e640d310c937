//! The rows of a run, read one by one from the file.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;

use crate::file_run::FileRun;
use crate::input::column_mapping::InputColumns;
use crate::input::row::InputRow;
use crate::input::{InputError, InputFile, RawRows, RawValue};
use crate::run::shard::Shard;

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
    line: u64,
    /// For each wanted column, whether any row so far had it.
    seen: Vec<bool>,
    /// The columns of refused rows whose cells are kept.
    listed: Arc<[String]>,
}

impl InputRows {
    /// Starts at the beginning of the file. Only one reader may exist at a time: readers share one
    /// position.
    pub(crate) fn of(run: &FileRun) -> Result<Self, InputError> {
        let columns = run.columns.clone();
        let raw = run.input.rows(columns.wanted())?;
        let seen = vec![false; columns.wanted().0.len()];
        Ok(Self {
            raw,
            input: Arc::clone(&run.input),
            columns,
            version: Arc::clone(run.prism.version()),
            shard: run.shard,
            number: 0,
            line: 1,
            seen,
            listed: Arc::new([]),
        })
    }

    /// Also keeps the cells of these columns for each refused row.
    pub(crate) fn listing(self, columns: Arc<[String]>) -> Self {
        Self {
            listed: columns,
            ..self
        }
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
            if !self.shard.has(self.number) {
                continue;
            }
            let mut row = InputRow::read(raw, self.number, &self.version);
            if row.content.is_err() && !self.listed.is_empty() {
                row.refused_cells = self.raw.cells_of_last(&self.listed);
            }
            return Ok(Some(row));
        }
    }

    /// Number of rows read so far, of all shards.
    pub(crate) fn number(&self) -> u64 {
        self.number
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

    /// Names of required columns that no row so far had. Only JSON Lines can lack one: opening a
    /// file checks its header.
    pub(crate) fn columns_never_seen(&self) -> Vec<String> {
        let wanted = self.columns.wanted().0.iter().zip(&self.seen);
        let unseen = wanted.filter(|(column, seen)| column.is_required && !**seen);
        unseen.map(|(column, _)| column.name.clone()).collect()
    }
}
