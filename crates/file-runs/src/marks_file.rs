//! Files of marks: the outcomes that people judge correct, one row for each result.
//!
//! A file of marks is read like the file of a run. A gold file is a
//! file of marks too: `expected_<question>` is read if the question has no column of its own. An
//! export of results with marks is one as well: there `<question>_marked` takes precedence over the
//! question's column, which holds the answer.

pub(crate) mod columns;

use refract_domain::key::QuestionKey;
use refract_service::marks::{MarkErrors, MarksRow};

use self::columns::MarksColumns;
pub use self::columns::MarksFileError;
use crate::input::{InputError, InputFile, InputSource, RawRows, RawValue, listed};

/// An open file of marks.
pub struct MarksFile {
    input: InputFile,
    columns: MarksColumns,
}

/// The content of a whole file of marks.
pub struct MarksFileRows {
    /// Rows with at least one mark, in the order of the file.
    pub rows: Vec<MarksRow>,
    /// Errors in single rows.
    pub errors: MarkErrors,
    /// Number of rows, with and without marks.
    pub rows_in_file: u64,
    /// Names of the columns that are not read, as readable text.
    pub unused_columns: String,
    /// Whether the file is an export of results without columns of marks: its columns of questions
    /// then hold the model's answers.
    pub holds_answers: bool,
}

impl MarksFile {
    /// Opens a file whose columns may belong to these questions.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn open(source: InputSource<'_>, questions: &[QuestionKey]) -> Result<Self, InputError> {
        let columns = MarksColumns::new(questions);
        Ok(Self {
            input: InputFile::open(source, columns.wanted())?,
            columns,
        })
    }

    /// The format and the encoding of the file, for people.
    pub fn describe(&self) -> String {
        self.input.describe()
    }

    /// Reads the whole file, which may be large. Blocks the thread.
    ///
    /// # Errors
    /// When the file cannot be read, or it has no column for results or none for questions.
    pub fn read(&self) -> Result<MarksFileRows, MarksFileError> {
        let mut raw = self.input.rows(self.columns.wanted())?;
        let of_header = raw.has_columns();
        if let Some(seen) = &of_header {
            self.columns.check(seen, &raw.unused_columns())?;
        }
        let mut seen = of_header.unwrap_or_else(|| vec![false; self.columns.wanted().0.len()]);
        let mut read = MarksFileRows {
            rows: Vec::new(),
            errors: MarkErrors::default(),
            rows_in_file: 0,
            unused_columns: String::new(),
            holds_answers: false,
        };
        let mut line = 1;
        loop {
            let next = raw.next();
            if !matches!(next, Ok(Some(_))) {
                // another program may be writing a broken row just now
                self.input.check_unchanged(line)?;
            }
            let Some(row) = next? else { break };
            line = row.line;
            read.rows_in_file += 1;
            for (seen, value) in seen.iter_mut().zip(&row.values) {
                *seen |= !matches!(value, RawValue::Absent { is_null: false });
            }
            read.rows.extend(self.columns.row(row, &mut read.errors));
        }
        let unused = self.unused(&raw, &seen)?;
        read.holds_answers = MarksColumns::hold_answers(&seen, &unused);
        read.unused_columns = listed(&unused);
        Ok(read)
    }

    fn unused(&self, raw: &RawRows, seen: &[bool]) -> Result<Vec<String>, MarksFileError> {
        let mut unused = raw.unused_columns();
        // only now are all keys of JSON Lines known
        self.columns.check(seen, &unused)?;
        unused.extend(self.columns.ignored(seen));
        Ok(unused)
    }
}

#[cfg(test)]
mod tests;
