//! Gold files: texts with known correct answers, and file runs over them.
//!
//! A gold file has a column `expected_<question key>` for some questions, and the columns of any
//! file run. A row's idempotency key does not depend on its expected outcomes: correcting one asks
//! about nothing again.

mod cells;
mod file;

use refract_boxed_futures::boxed;
use std::io;
use std::sync::Arc;

use refract_domain::key::QuestionKey;
use refract_domain::prism::Question;
use refract_service::model::Estimator;
use refract_service::runs::PinnedPrism;

use crate::check::{FileCheck, FileCheckError};
use crate::file_run::{FileRun, OpenRunError, RunOrder};
use crate::input::{InputColumns, InputRow, KeptCells};
use crate::output::{FinishedRow, RowSinks, RunSummary};
use crate::run::{FilePart, RowChunks, RunSettings, RunTally};

pub use self::cells::ExpectedOutcome;
pub(crate) use self::cells::{EXPECTED, GoldCells};
pub use self::file::{ExampleFileProblem, GoldFile, GoldFormat, GoldProblem, GoldText};

/// Upper bound on the invalid cells in the list.
const MOST_LISTED: usize = 100;

/// A gold file that is ready to run.
pub struct GoldRun(Arc<FileRun>);

/// The content of a gold file.
#[derive(Debug)]
pub struct GoldCheck {
    /// The check of the file as a plain file run.
    pub file: FileCheck,
    /// Number of expected outcomes of each question; questions without any are left out. In the
    /// version's order.
    pub expected: Vec<(QuestionKey, u64)>,
    /// Names of `expected_…` columns without a question of that key in the version.
    pub unknown_columns: Vec<String>,
    /// Number of cells that are not an outcome of their question.
    pub wrong: u64,
    /// The first hundred invalid cells.
    pub listed: Vec<WrongCell>,
}

/// A cell that is not an outcome of its question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongCell {
    /// The line on which the row begins.
    pub line: u64,
    /// The question.
    pub question: QuestionKey,
}

#[boxed]
impl GoldRun {
    /// Opens the file and reads its header.
    ///
    /// # Errors
    /// When a mapping cannot be used, the file cannot be read, or columns of fields are missing.
    pub fn open(prism: PinnedPrism, order: RunOrder<'_>) -> Result<Self, OpenRunError> {
        let version = prism.version();
        let columns = InputColumns::new(version, version.questions(), order.mappings)?;
        let run = FileRun::with_columns(prism, columns, order)?;
        Ok(Self(Arc::new(run)))
    }

    /// Asks about rows whose fields are all empty too, which are left out otherwise.
    #[must_use]
    pub fn with_blank_rows(self) -> Self {
        let run = Arc::unwrap_or_clone(self.0);
        Self(Arc::new(run.with_blank_rows()))
    }

    /// The gold file as a plain file run.
    pub fn file(&self) -> &FileRun {
        &self.0
    }

    /// Name of the column with the correct answers to a question.
    pub fn column_of(question: &Question) -> String {
        format!("{EXPECTED}{}", question.key)
    }

    /// Reads the whole file without asking the model, and looks up the answered rows.
    ///
    /// # Errors
    /// When the file is unreadable, with the line, or when the database fails.
    pub async fn check(
        &self,
        estimator: Estimator,
        tally: &Arc<RunTally>,
    ) -> Result<GoldCheck, FileCheckError> {
        let version = Arc::clone(self.0.prism.version());
        let seen = SeenCells {
            counts: vec![0; version.questions().len()],
            wrong: 0,
            listed: Vec::new(),
        };
        let look = move |seen: &mut SeenCells, row: &InputRow| seen.add(row, version.questions());
        let (file, seen) = self.0.check_each(estimator, tally, seen, look).await?;
        let unknown = file.unused_columns.iter();
        let unknown = unknown.filter(|name| name.starts_with(EXPECTED));
        let keys = self.0.version().questions().iter();
        let counts = keys.map(|question| question.key.clone()).zip(seen.counts);
        Ok(GoldCheck {
            unknown_columns: unknown.cloned().collect(),
            expected: counts.filter(|(_, count)| *count > 0).collect(),
            wrong: seen.wrong,
            listed: seen.listed,
            file,
        })
    }

    /// Asks about every unanswered row, retries failed rows, and hands over all rows in the order
    /// of the file. The file must be unchanged since `check`.
    ///
    /// Once `stop` completes, no further row is begun. Rows in flight are finished, saved and
    /// handed over.
    pub async fn run(
        &self,
        settings: RunSettings,
        check: &GoldCheck,
        tally: &Arc<RunTally>,
        mut take: impl FnMut(FinishedRow),
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let take = |row| -> io::Result<()> {
            take(row);
            Ok(())
        };
        let rows = Some(check.file.rows_in_file);
        let rows = RowChunks::read(&self.0, FilePart::WHOLE, rows, KeptCells::None);
        let sinks = RowSinks {
            take,
            list: |_| Ok(()),
        };
        let facts = check.file.facts("check");
        let run = self.0.run_each(facts, settings, rows, tally, sinks, stop);
        run.await
    }
}

/// Counts of what the check found in the columns of expected outcomes.
struct SeenCells {
    /// Number of expected outcomes of each question, in the version's order.
    counts: Vec<u64>,
    wrong: u64,
    listed: Vec<WrongCell>,
}

impl SeenCells {
    fn add(&mut self, row: &InputRow, questions: &[Question]) {
        for expected in &row.gold.expected {
            let mut pairs = questions.iter().zip(&mut self.counts);
            if let Some((_, count)) = pairs.find(|(q, _)| q.key == expected.question) {
                *count += 1;
            }
        }
        for question in &row.gold.wrong {
            self.wrong += 1;
            if self.listed.len() < MOST_LISTED {
                self.listed.push(WrongCell {
                    line: row.line,
                    question: question.clone(),
                });
            }
        }
    }
}
