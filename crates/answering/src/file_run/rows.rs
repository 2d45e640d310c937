//! All rows of a file that belong to a run, one after the other.

use std::sync::Arc;

use refract_domain::prism::PrismVersion;

use super::FileRun;
use super::columns::Columns;
use super::input::{InputFault, InputFile, RawRows, RawValue};
use super::row::Row;
use super::shard::Shard;

/// The file is looked at after so many rows: has somebody written to it?
const BETWEEN_LOOKS: u64 = 1024;

/// Reads rows from the beginning of the file.
pub(crate) struct Rows {
    raw: RawRows,
    input: Arc<InputFile>,
    columns: Columns,
    version: Arc<PrismVersion>,
    shard: Shard,
    /// Rows so far, those of other shards too.
    number: u64,
    line: u64,
    /// For each wanted column whether any row had it.
    seen: Vec<bool>,
}

impl Rows {
    /// From the beginning. Only one reading of a run's file at a time.
    pub(crate) fn of(run: &FileRun) -> Result<Self, InputFault> {
        let columns = run.columns.clone();
        let raw = run.input.rows(columns.wanted())?;
        let seen = vec![false; columns.wanted().0.len()];
        Ok(Self {
            raw,
            input: Arc::clone(&run.input),
            columns,
            version: Arc::clone(&run.version),
            shard: run.shard,
            number: 0,
            line: 1,
            seen,
        })
    }

    /// The next row of the shard; `None` after the last.
    pub(crate) fn next(&mut self) -> Result<Option<Row>, InputFault> {
        loop {
            let read = self.raw.next();
            if read.is_err() || self.number.is_multiple_of(BETWEEN_LOOKS) {
                // a torn row may be one that somebody is writing
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
                return Ok(Some(Row::read(raw, self.number, &self.version)));
            }
        }
    }

    /// Rows so far, those of other shards too.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The line of the last row.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Columns that nobody wants.
    pub(crate) fn passed_by(&self) -> Vec<String> {
        self.raw.passed_by()
    }

    /// Required columns that no row had; a header has them all.
    pub(crate) fn never_seen(&self) -> Vec<String> {
        let wanted = self.columns.wanted().0.iter().zip(&self.seen);
        let unseen = wanted.filter(|(column, seen)| column.is_required && !**seen);
        unseen.map(|(column, _)| column.name.clone()).collect()
    }
}
