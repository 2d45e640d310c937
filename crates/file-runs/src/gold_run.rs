//! A file run over a gold file: texts whose right answers are known.
//!
//! A gold file has a column `expected_<question key>` for some questions, beside the columns of any
//! file run. What is expected plays no part in a row's idempotency key: correcting an expectation
//! asks about nothing again.

use std::io;
use std::sync::Arc;

use refract_answering::{Estimator, PinnedPrism};
use refract_domain::key::QuestionKey;
use refract_domain::question::Question;

use crate::column_mapping::InputColumns;
use crate::file_check::FileCheck;
use crate::file_run::{FileRun, RunOrder, RunRefusal};
use crate::finished_rows::{FinishedRow, RunSummary};
use crate::gold_cells::EXPECTED;
use crate::input::InputFault;
use crate::run_settings::RunSettings;
use crate::run_tally::RunTally;

/// Upper bound on the wrong cells that are listed.
const MOST_LISTED: usize = 100;

/// A gold file that is ready to be run.
pub struct GoldRun(FileRun);

/// What a gold file holds.
#[derive(Debug)]
pub struct GoldCheck {
    /// The check of the file as of any file run.
    pub file: FileCheck,
    /// Number of expected outcomes of each question that has any, in the version's order.
    pub expected: Vec<(QuestionKey, u64)>,
    /// Names of the columns `expected_…` that are no question of the version.
    pub unknown_columns: Vec<String>,
    /// Cells that name no outcome of their question.
    pub wrong: u64,
    /// The first hundred wrong cells.
    pub listed: Vec<WrongCell>,
}

/// A cell that names no outcome of its question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongCell {
    /// The line on which the row begins.
    pub line: u64,
    /// The question.
    pub question: QuestionKey,
}

impl GoldRun {
    /// Opens the file and reads its header.
    ///
    /// # Errors
    /// When a mapping cannot be used, the file cannot be read, or columns of fields are missing.
    pub fn open(prism: PinnedPrism, order: RunOrder<'_>) -> Result<Self, RunRefusal> {
        let version = prism.version();
        let columns = InputColumns::new(version, version.questions(), order.mappings)?;
        FileRun::with_columns(prism, columns, order).map(Self)
    }

    /// The file run without what is expected.
    pub fn file(&self) -> &FileRun {
        &self.0
    }

    /// Name of the column that says what is right for a question.
    pub fn column_of(question: &Question) -> String {
        format!("{EXPECTED}{}", question.key)
    }

    /// Reads the whole file without asking the model. It blocks the thread: the file may be large.
    ///
    /// # Errors
    /// A fault that makes the file unreadable, with its line.
    pub fn check(&self, estimator: &Estimator, tally: &RunTally) -> Result<GoldCheck, InputFault> {
        let questions = self.0.version().questions();
        let mut counts = vec![0_u64; questions.len()];
        let mut wrong = 0;
        let mut listed = Vec::new();
        let file = self.0.check_rows(estimator, tally, |row| {
            for expected in &row.gold.expected {
                let mut pairs = questions.iter().zip(&mut counts);
                if let Some((_, count)) = pairs.find(|(q, _)| q.key == expected.question) {
                    *count += 1;
                }
            }
            for question in &row.gold.wrong {
                wrong += 1;
                if listed.len() < MOST_LISTED {
                    listed.push(WrongCell {
                        line: row.line,
                        question: question.clone(),
                    });
                }
            }
        })?;
        let unknown = file.unused_columns.iter();
        let unknown = unknown.filter(|name| name.starts_with(EXPECTED));
        let keys = questions.iter().map(|question| question.key.clone());
        Ok(GoldCheck {
            unknown_columns: unknown.cloned().collect(),
            expected: keys.zip(counts).filter(|(_, count)| *count > 0).collect(),
            wrong,
            listed,
            file,
        })
    }

    /// Asks about every row that has no answer, retries failed rows, and hands over all rows in the
    /// order of the file. The file has to be unchanged since `check`.
    ///
    /// After `stop` no further row begins. Rows in flight are finished, saved and handed over.
    pub async fn run(
        &self,
        settings: RunSettings<'_>,
        check: &GoldCheck,
        tally: &Arc<RunTally>,
        mut take: impl FnMut(FinishedRow),
        stop: impl Future<Output = ()>,
    ) -> RunSummary {
        let take = |row| -> io::Result<()> {
            take(row);
            Ok(())
        };
        let asking = self
            .0
            .run_each("check", settings, &check.file, tally, take, stop);
        asking.await
    }
}
