//! The rows of a file that belong to a run, one after another.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;

use crate::column_mapping::InputColumns;
use crate::file_run::FileRun;
use crate::input::{InputFault, InputFile, RawRows, RawValue};
use crate::input_row::InputRow;
use crate::shard::Shard;

/// Number of rows after which the file is checked for changes.
const ROWS_BETWEEN_CHECKS: u64 = 1024;

/// Reads the rows of a run's shard from the beginning of the file.
pub(crate) struct InputRows {
    raw: RawRows,
    input: Arc<InputFile>,
    columns: InputColumns,
    version: Arc<PrismVersion>,
    shard: Shard,
    /// The number of the last row that was read, of any shard.
    number: u64,
    line: u64,
    /// For each wanted column whether any row so far had it.
    seen: Vec<bool>,
}

impl InputRows {
    /// Goes to the beginning of the file. Only one reader at a time: readers share one position.
    pub(crate) fn of(run: &FileRun) -> Result<Self, InputFault> {
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
        })
    }

    /// The next row of the shard; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<InputRow>, InputFault> {
        loop {
            let read = self.raw.next();
            if read.is_err() || self.number.is_multiple_of(ROWS_BETWEEN_CHECKS) {
                // a broken row may be one that is just being written
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
            if self.shard.has(self.number) {
                return Ok(Some(InputRow::read(raw, self.number, &self.version)));
            }
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

    /// Names of the columns that the run does not read.
    pub(crate) fn unused_columns(&self) -> Vec<String> {
        self.raw.unused_columns()
    }

    /// Names of required columns that no row so far had. Only JSON Lines can lack one: a header is
    /// checked when the file is opened.
    pub(crate) fn columns_never_seen(&self) -> Vec<String> {
        let wanted = self.columns.wanted().0.iter().zip(&self.seen);
        let unseen = wanted.filter(|(column, seen)| column.is_required && !**seen);
        unseen.map(|(column, _)| column.name.clone()).collect()
    }
}
