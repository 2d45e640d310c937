//! The check of a whole file before the model is asked about any row.

use refract_answering::Estimator;
use refract_domain::model_input::{State, json_chars};

use crate::file_run::FileRun;
use crate::input::{InputFault, listed};
use crate::input_row::InputRow;
use crate::input_rows::InputRows;
use crate::run_tally::RunTally;

/// Upper bound on the refused rows that are listed.
const MOST_LISTED: usize = 100;

/// What a file holds and what the run will cost.
#[derive(Debug, Default)]
pub struct FileCheck {
    /// Rows of the shard.
    pub rows: u64,
    /// Rows of the whole file.
    pub rows_in_file: u64,
    /// Rows of the shard that the model cannot be asked about.
    pub refused: u64,
    /// The first hundred refused rows.
    pub listed: Vec<RefusedRow>,
    /// Names of the columns that the run does not read.
    pub unused_columns: Vec<String>,
    /// Requests to the model for all rows that are not refused, without second attempts.
    pub requests: u64,
    /// Estimated tokens of those requests.
    pub tokens: u64,
}

/// A row that the model cannot be asked about.
#[derive(Debug)]
pub struct RefusedRow {
    /// The line on which the row begins.
    pub line: u64,
    /// Why the row is refused, in words that repeat none of its values.
    pub reason: String,
}

impl FileRun {
    /// Reads the whole file without asking the model. It blocks the thread: the file may be large.
    ///
    /// # Errors
    /// A fault that makes the file unreadable, with its line.
    pub fn check(&self, estimator: &Estimator, tally: &RunTally) -> Result<FileCheck, InputFault> {
        self.check_rows(estimator, tally, |_| {})
    }

    /// Checks the file and shows each of its rows to `look`.
    pub(crate) fn check_rows(
        &self,
        estimator: &Estimator,
        tally: &RunTally,
        mut look: impl FnMut(&InputRow),
    ) -> Result<FileCheck, InputFault> {
        let mut rows = InputRows::of(self)?;
        let mut check = FileCheck::default();
        while let Some(row) = rows.next()? {
            check.rows += 1;
            tally.row_checked();
            look(&row);
            match row.content {
                Ok(content) => {
                    let state_chars = json_chars(&State {
                        prism_context: self.version().context(),
                        submission: &content.submission,
                    });
                    let estimate = estimator.estimate(state_chars);
                    check.requests += widened(estimate.requests);
                    check.tokens += widened(estimate.tokens);
                }
                Err(reason) => {
                    check.refused += 1;
                    if check.listed.len() < MOST_LISTED {
                        let line = row.line;
                        check.listed.push(RefusedRow { line, reason });
                    }
                }
            }
        }
        check.rows_in_file = rows.number();
        let unused = rows.unused_columns();
        let missing = rows.columns_never_seen();
        if check.rows_in_file > 0 && !missing.is_empty() {
            let present = listed(&unused);
            return Err(InputFault::Missing { missing, present });
        }
        check.unused_columns = unused;
        Ok(check)
    }
}

impl FileCheck {
    /// The columns that the run does not read, as a list for people.
    pub fn unused_columns_listed(&self) -> String {
        listed(&self.unused_columns)
    }
}

fn widened(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
