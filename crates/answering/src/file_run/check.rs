//! The whole file looked at before anything is asked.

use refract_domain::model_input::{State, json_chars};
use refract_model_gateway::Estimator;

use super::input::listed;
use super::rows::Rows;
use super::{FileRun, InputFault, Tally};

/// Refused rows that are told one by one.
const MOST_TOLD: usize = 100;

/// What a file holds and what it will cost.
#[derive(Debug, Default)]
pub struct Check {
    /// Rows of the shard.
    pub rows: u64,
    /// Rows of the whole file.
    pub rows_in_file: u64,
    /// Rows of the shard that cannot be asked about.
    pub refused: u64,
    /// The first hundred of them.
    pub told: Vec<RefusedRow>,
    /// Columns that are passed by, as a list for people.
    pub passed_by: String,
    /// Requests to the model for all rows that can be asked about, second attempts not counted.
    pub requests: u64,
    /// Estimated tokens of these requests.
    pub tokens: u64,
}

/// A row that cannot be asked about.
#[derive(Debug)]
pub struct RefusedRow {
    /// Where it begins.
    pub line: u64,
    /// Why, in words that repeat nothing of it.
    pub words: String,
}

impl FileRun {
    /// Reads the whole file and asks nothing. It blocks: the file may be large.
    ///
    /// # Errors
    /// A file that cannot be read to its end, with the line.
    pub fn check(&self, estimator: &Estimator, tally: &Tally) -> Result<Check, InputFault> {
        let mut rows = Rows::of(self)?;
        let mut check = Check::default();
        while let Some(row) = rows.next()? {
            check.rows += 1;
            tally.row_read();
            match row.content {
                Ok(content) => {
                    let state_chars = json_chars(&State {
                        prism_context: self.version.context(),
                        submission: &content.submission,
                    });
                    let estimate = estimator.estimate(state_chars);
                    check.requests += wide(estimate.requests);
                    check.tokens += wide(estimate.tokens);
                }
                Err(words) => {
                    check.refused += 1;
                    if check.told.len() < MOST_TOLD {
                        let line = row.line;
                        check.told.push(RefusedRow { line, words });
                    }
                }
            }
        }
        check.rows_in_file = rows.number();
        let passed_by = rows.passed_by();
        let missing = rows.never_seen();
        if check.rows_in_file > 0 && !missing.is_empty() {
            let present = listed(&passed_by);
            return Err(InputFault::Missing { missing, present });
        }
        check.passed_by = listed(&passed_by);
        Ok(check)
    }
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
