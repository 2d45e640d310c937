//! A file run over a gold file: texts whose right answers are known.
//!
//! A gold file has a column `expected_<question key>` for some questions, beside the columns of any
//! file run. What is expected plays no part in a row's idempotency key: correcting an expectation
//! asks about nothing again.

use std::io;
use std::sync::Arc;

use refract_domain::key::QuestionKey;
use refract_domain::prism::question::Question;
use refract_service::model::Estimator;
use refract_service::runs::PinnedPrism;

use crate::check::file_check::{FileCheck, FileCheckError};
use crate::file_run::{FileRun, OpenRunError, RunOrder};
use crate::gold::cells::EXPECTED;
use crate::input::column_mapping::InputColumns;
use crate::input::row::InputRow;
use crate::output::finished_rows::{FinishedRow, RowSinks, RunSummary};
use crate::run::row_chunks::RowChunks;
use crate::run::settings::RunSettings;
use crate::run::tally::RunTally;

/// Upper bound on the wrong cells that are listed.
const MOST_LISTED: usize = 100;

/// A gold file that is ready to be run.
pub struct GoldRun(Arc<FileRun>);

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
    pub fn open(prism: PinnedPrism, order: RunOrder<'_>) -> Result<Self, OpenRunError> {
        let version = prism.version();
        let columns = InputColumns::new(version, version.questions(), order.mappings)?;
        let run = FileRun::with_columns(prism, columns, order)?;
        Ok(Self(Arc::new(run)))
    }

    /// The file run without what is expected.
    pub fn file(&self) -> &FileRun {
        &self.0
    }

    /// Name of the column that says what is right for a question.
    pub fn column_of(question: &Question) -> String {
        format!("{EXPECTED}{}", question.key)
    }

    /// Reads the whole file without asking the model, and looks up which rows are answered.
    ///
    /// # Errors
    /// A fault that makes the file unreadable, with its line, or the database fails.
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

    /// Asks about every row that has no answer, retries failed rows, and hands over all rows in the
    /// order of the file. The file has to be unchanged since `check`.
    ///
    /// After `stop` no further row begins. Rows in flight are finished, saved and handed over.
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
        let rows = RowChunks::read(&self.0, check.file.rows_in_file, Arc::new([]));
        let sinks = RowSinks {
            take,
            list: |_| Ok(()),
        };
        let facts = check.file.facts("check");
        let run = self.0.run_each(facts, settings, rows, tally, sinks, stop);
        run.await
    }
}

/// What the check has seen in the columns of what is expected.
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
