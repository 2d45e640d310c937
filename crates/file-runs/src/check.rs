//! Checks a whole file before the model is asked about any row: refused rows, which are listed with
//! all their cells, and the cost of a run.

pub(crate) mod price;

use refract_boxed_futures::boxed;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use refract_domain::submission::model_input::{State, json_chars};
use refract_service::CallError;
use refract_service::model::Estimator;
use refract_service::runs::RunFacts;

use crate::check::price::{PricedRows, priced_rows};
use crate::file_run::FileRun;
use crate::input::{InputError, InputRow, InputRows, OddCells, RowContent, listed};
use crate::run::{RunTally, cause};

/// Upper bound on the refused rows in the list.
const MOST_LISTED: usize = 100;
/// Number of accepted rows that are shown.
const SHOWN: usize = 3;
/// Upper bound on the characters of a shown text.
const SHOWN_CHARACTERS: usize = 200;

/// The content of a file and the cost of its run.
#[derive(Debug, Default)]
pub struct FileCheck {
    /// Rows of the shard, without those that are left out.
    pub rows: u64,
    /// Rows of the whole file.
    pub rows_in_file: u64,
    /// Rows of the whole file whose fields are all empty.
    pub blank: u64,
    /// Whether those rows are left out.
    pub leaves_out_blank: bool,
    /// What is odd about cells of a workbook, in the whole file.
    pub odd_cells: OddCells,
    /// Rows of the shard that a limit refuses: the model is not asked about them.
    pub refused: u64,
    /// The first hundred refused rows.
    pub listed: Vec<RefusedRow>,
    /// The first three rows of the shard that the model can be asked about.
    pub first: Vec<ShownRow>,
    /// The names of all columns. JSON Lines has the columns of the run and at most a hundred
    /// others.
    pub columns: Vec<String>,
    /// Names of the columns that the run does not read.
    pub unused_columns: Vec<String>,
    /// Those of them that hold lists or structs of Parquet, whose cells are kept empty.
    pub nested_columns: Vec<String>,
    /// Rows of the shard with an answer from an earlier run.
    pub answered_before: u64,
    /// Requests to the model for rows that are neither refused nor answered; second attempts do not
    /// count.
    pub requests: u64,
    /// Estimated tokens of those requests.
    pub tokens: u64,
}

/// A row as it would be asked about, each text cut to 200 characters.
pub struct ShownRow {
    /// The line on which the row begins.
    pub line: u64,
    /// The row's own reference.
    pub reference: Option<String>,
    /// The keys of the fields with their texts, in the prism's order.
    pub fields: Vec<(String, String)>,
    /// The context of the row's call.
    pub context: Option<String>,
}

/// Shows the line, never a text.
impl fmt::Debug for ShownRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShownRow")
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}

impl ShownRow {
    fn of(line: u64, row: &RowContent) -> Self {
        let cut = |text: &str| text.chars().take(SHOWN_CHARACTERS).collect();
        let fields = row.submission.fields().iter();
        Self {
            line,
            reference: row.reference.as_ref().map(|it| cut(it.as_str())),
            fields: fields
                .map(|(key, text)| (key.to_string(), cut(text)))
                .collect(),
            context: row.submission.context().map(cut),
        }
    }
}

/// A row that the model cannot be asked about.
#[derive(Debug)]
pub struct RefusedRow {
    /// The line on which the row begins.
    pub line: u64,
    /// Why the row is refused; the reason repeats none of its values.
    pub reason: String,
}

/// Why a file could not be checked.
#[derive(Debug, thiserror::Error)]
pub enum FileCheckError {
    /// The file is unreadable.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The lookup of answered rows failed.
    #[error("{refusal}{}", cause(.refusal))]
    Lookup {
        /// The reason.
        refusal: CallError,
    },
    /// The thread that read the file has ended, which is a bug.
    #[error("the check of the file broke off")]
    Lost,
}

#[boxed]
impl FileRun {
    /// Reads the whole file without asking the model, and looks up which rows are answered.
    ///
    /// # Errors
    /// When the file is unreadable, with the line, or when the database fails.
    pub async fn check(
        self: &Arc<Self>,
        estimator: Estimator,
        tally: &Arc<RunTally>,
    ) -> Result<FileCheck, FileCheckError> {
        let checked = self.check_each(estimator, tally, (), |(), _| {}).await;
        checked.map(|(check, ())| check)
    }

    /// Checks the file and passes each of its rows to `look`. The file may be large, so it is read
    /// on a blocking thread.
    pub(crate) async fn check_each<T: Send + 'static>(
        self: &Arc<Self>,
        estimator: Estimator,
        tally: &Arc<RunTally>,
        mut seen: T,
        look: impl Fn(&mut T, &InputRow) + Send + 'static,
    ) -> Result<(FileCheck, T), FileCheckError> {
        let (priced, batches) = priced_rows();
        let (run, tally) = (Arc::clone(self), Arc::clone(tally));
        let reading = tokio::task::spawn_blocking(move || {
            let look = |row: &InputRow| look(&mut seen, row);
            let check = run.read_all(&estimator, &tally, priced, look)?;
            Ok::<_, InputError>((check, seen))
        });
        let price = batches.price(&self.prism).await;
        let (mut check, seen) = reading.await.map_err(|_| FileCheckError::Lost)??;
        let price = price.map_err(|refusal| FileCheckError::Lookup { refusal })?;
        check.answered_before = price.answered_before;
        (check.requests, check.tokens) = (price.requests, price.tokens);
        Ok((check, seen))
    }

    /// Reads the whole file, or stops early if the price is no longer needed.
    fn read_all(
        &self,
        estimator: &Estimator,
        tally: &RunTally,
        mut priced: PricedRows,
        mut look: impl FnMut(&InputRow),
    ) -> Result<FileCheck, InputError> {
        let mut rows = InputRows::of(self)?;
        let mut check = FileCheck::default();
        while let Some(row) = rows.next()? {
            check.rows += 1;
            tally.row_checked();
            look(&row);
            match &row.content {
                Ok(content) => {
                    if check.first.len() < SHOWN {
                        check.first.push(ShownRow::of(row.line, content));
                    }
                    let state_chars = json_chars(&State {
                        prism_context: self.version().context(),
                        submission: &content.submission,
                    });
                    let key = self.identity.key(&row, content);
                    if !priced.add(key, estimator.estimate(state_chars)) {
                        return Ok(check);
                    }
                }
                Err(reason) => {
                    check.refused += 1;
                    if check.listed.len() < MOST_LISTED {
                        let (line, reason) = (row.line, reason.clone());
                        check.listed.push(RefusedRow { line, reason });
                    }
                }
            }
        }
        priced.end();
        rows.check_columns()?;
        check.odd_cells = rows.odd_cells();
        if rows.are_all_left_out() {
            return Err(InputError::AllBlank {
                rows: rows.number(),
                odd: check.odd_cells != OddCells::default(),
            });
        }
        check.rows_in_file = rows.number();
        check.blank = rows.blank();
        check.leaves_out_blank = self.leaves_out_blank;
        check.columns = rows.columns();
        check.unused_columns = rows.unused_columns();
        check.nested_columns = rows.unused_nested();
        Ok(check)
    }
}

impl FileCheck {
    /// Rows of the shard to ask the model about.
    pub fn to_ask(&self) -> u64 {
        self.rows - self.refused - self.answered_before
    }

    /// The facts about the file for the events of a run of this kind.
    pub(crate) fn facts(&self, kind: &'static str) -> RunFacts {
        RunFacts {
            kind,
            rows: self.rows,
            refused: self.refused,
        }
    }

    /// What a person should know about the file before its rows are asked about, a sentence each: rows
    /// without a text, cells of a workbook whose value is not what somebody wrote, and columns of Parquet
    /// that no cell holds.
    pub fn remarks(&self) -> Vec<String> {
        let rows = |count: u64| {
            let noun = if count == 1 { "row" } else { "rows" };
            format!("{count} {noun}")
        };
        let cells = |count: u64, what: &str| {
            let noun = if count == 1 { "cell" } else { "cells" };
            format!("{count} {noun} {what}")
        };
        let OddCells {
            errors,
            uncalculated,
            inexact,
            not_text,
            hidden_rows,
        } = self.odd_cells;
        let what_is_done = if self.leaves_out_blank {
            "left out"
        } else {
            "asked about"
        };
        let whole = rows(self.rows_in_file);
        let remarks = [
            (
                self.blank,
                format!("{} of {whole} without a text: {what_is_done}", self.blank),
            ),
            (
                hidden_rows,
                format!(
                    "{} hidden or filtered out in the sheet: read too",
                    rows(hidden_rows)
                ),
            ),
            (
                errors,
                cells(errors, "with an error such as #N/A, read as empty"),
            ),
            (
                uncalculated,
                cells(
                    uncalculated,
                    "with a formula that was never calculated, read as empty: open the workbook in a \
                     spreadsheet and save it",
                ),
            ),
            (
                inexact,
                cells(
                    inexact,
                    "with a number of over 15 digits, whose last digits the workbook does not hold: \
                     store ids as text",
                ),
            ),
            (
                not_text,
                cells(
                    not_text,
                    "of other columns with bytes that are no text: kept columns have \u{fffd} for them",
                ),
            ),
        ];
        let remarks = remarks.into_iter().filter(|(count, _)| *count > 0);
        let nested = (!self.nested_columns.is_empty()).then(|| {
            let names = listed(&self.nested_columns);
            format!("lists or structs, of which no cell is kept, in {names}: write them as text")
        });
        remarks.map(|(_, remark)| remark).chain(nested).collect()
    }

    /// The columns that the run does not read, as readable text.
    pub fn unused_columns_listed(&self) -> String {
        listed(&self.unused_columns)
    }
}

/// Columns of the list before those of the file.
const HEADER: [&str; 2] = ["line", "reason"];

/// A refused row.
#[derive(Debug)]
pub(crate) struct ListedRow {
    /// The line on which the row begins.
    pub(crate) line: u64,
    /// Why the row is refused; the reason repeats none of its values.
    pub(crate) reason: String,
    /// The row's cells; empty if no list is written.
    pub(crate) cells: Vec<String>,
}

/// Writes the list of a run as CSV, or nothing if none is wanted.
pub(crate) struct RefusedRows<'a> {
    out: Option<&'a mut dyn Write>,
    columns: Arc<[String]>,
}

impl<'a> RefusedRows<'a> {
    /// A list of rows with these columns. `None` for `out` writes nothing.
    pub(crate) fn new(out: Option<&'a mut dyn Write>, columns: &[String]) -> Self {
        let columns = if out.is_some() { columns } else { &[] };
        Self {
            out,
            columns: columns.into(),
        }
    }

    pub(crate) fn write_header(&mut self) -> io::Result<()> {
        let columns = self.columns.iter().map(String::as_str);
        match &mut self.out {
            Some(out) => write_line(HEADER.into_iter().chain(columns), out),
            None => Ok(()),
        }
    }

    pub(crate) fn write(&mut self, row: &ListedRow) -> io::Result<()> {
        let Some(out) = &mut self.out else {
            return Ok(());
        };
        let line = row.line.to_string();
        let own = row.cells.iter().map(String::as_str);
        write_line([line.as_str(), &row.reason].into_iter().chain(own), out)
    }
}

fn write_line<'a>(cells: impl Iterator<Item = &'a str>, out: &mut dyn Write) -> io::Result<()> {
    let mut csv = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(out);
    csv.write_record(cells)?;
    csv.flush()
}
