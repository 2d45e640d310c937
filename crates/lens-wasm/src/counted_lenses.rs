//! Counts over stored results: what another lens would change, and what each cutoff would answer.

use refract_domain::key::QuestionKey;
use refract_domain::lens::{Column, Cutoff, Cutoffs, Output};
use refract_domain::prism::{Question, QuestionType};
use refract_evaluation::counting::{
    ColumnTally, CutoffStep, CutoffSteps, LabelCounts, LensPreview,
};
use serde::Serialize;

use crate::checked_files::StoredInputError;
use crate::stored_results::StoredResults;

/// The effect of a draft of a lens on the answered results, as `refract lens preview --json` prints it.
#[derive(Serialize)]
pub struct CountedLens {
    /// Number of answered results.
    pub results: u64,
    /// Number of results with a changed cell in the columns that both lenses have.
    pub changed_results: u64,
    /// Number of cells in the columns that both lenses have.
    pub cells: u64,
    /// How many of these cells change.
    pub changed: u64,
    /// The columns of the draft, in order.
    pub columns: Vec<ColumnCounts>,
    /// Names of the columns that the draft lacks.
    pub dropped: Vec<String>,
}

/// The counts of one column of a draft.
#[derive(Serialize)]
pub struct ColumnCounts {
    /// The column's name.
    pub name: String,
    /// Key of its question.
    pub question: String,
    /// Its output.
    pub output: &'static str,
    /// Number of cells that change; `None` for a new column.
    pub changed: Option<u64>,
    /// The values with the draft.
    pub after: ColumnTally,
    /// The values now; `None` without such a column, and when the two cannot be compared.
    pub before: Option<ColumnTally>,
}

/// The stored probabilities of a column, and the counts at each cutoff, as `refract lens cutoffs
/// --json` prints them.
#[derive(Serialize)]
pub struct CountedSteps {
    /// The column's name.
    pub column: String,
    /// Key of its Yes / No question.
    pub question: String,
    /// Number of counted results.
    pub results: u64,
    /// The column's cutoff below which the label is no, if it states one.
    pub no_below: Option<f64>,
    /// The column's cutoff from which the label is yes, if it states one.
    pub yes_from: Option<f64>,
    /// The labels that the column shows now; `None` for a column of probabilities.
    pub now: Option<LabelCounts>,
    /// The counts at each whole percent from 0 to 100.
    pub steps: Vec<CutoffStep>,
}

impl StoredResults {
    /// Counts what a draft of a lens would change. Both lenses are lens files, or `None` for the
    /// automatic lens.
    ///
    /// # Errors
    /// When a lens file has problems.
    pub fn preview(
        &self,
        now: Option<&str>,
        draft: Option<&str>,
    ) -> Result<CountedLens, StoredInputError> {
        let (now, draft) = (self.columns(now)?, self.columns(draft)?);
        let mut preview = LensPreview::new(&now, &draft, self.latest());
        for result in self.answered() {
            preview.add(result);
        }
        let (cells, changed) = (preview.cells(), preview.changed());
        let dropped = preview.dropped.iter();
        Ok(CountedLens {
            results: preview.results,
            changed_results: preview.changed_results,
            cells,
            changed,
            dropped: dropped.map(|column| column.name.to_string()).collect(),
            columns: draft
                .iter()
                .zip(preview.columns)
                .map(|(column, counts)| ColumnCounts {
                    name: column.name.to_string(),
                    question: column.question.to_string(),
                    output: column.output.name(),
                    changed: counts.changed,
                    after: counts.after,
                    before: counts.before,
                })
                .collect(),
        })
    }

    /// Counts the stored probabilities of a Yes / No question by whole percent: the number at index 40
    /// is of those from 0.4 to below 0.41.
    ///
    /// # Errors
    /// When the latest version has no such Yes / No question.
    pub fn histogram(&self, question: &str) -> Result<Vec<u32>, StoredInputError> {
        let error = StoredInputError::NotYesNo { what: "question" };
        let found = QuestionKey::parse(question)
            .ok()
            .and_then(|key| self.latest().question(&key));
        let is_yes_no = |question: &&Question| question.question_type() == QuestionType::YesNo;
        let column = found
            .filter(is_yes_no)
            .and_then(Column::automatic)
            .ok_or(error)?;
        let counted = self.count(&Column {
            output: Output::YesProbability,
            ..column
        });
        let steps = counted.map(|counted| counted.steps(1)).unwrap_or_default();
        let count = |step: &CutoffStep| u32::try_from(step.results).unwrap_or(u32::MAX);
        Ok(steps.iter().map(count).collect())
    }

    /// Counts what a cutoff at each whole percent would answer in a column of a lens, as the column's
    /// own cutoffs answer now.
    ///
    /// # Errors
    /// When the lens file has problems, and when it has no such column of a Yes / No question.
    pub fn cutoffs(
        &self,
        lens: Option<&str>,
        column: &str,
    ) -> Result<CountedSteps, StoredInputError> {
        let columns = self.columns(lens)?;
        let found = columns.iter().find(|other| other.name.as_str() == column);
        let counted = found.and_then(|column| self.count(column));
        let counted = counted.ok_or(StoredInputError::NotYesNo { what: "column" })?;
        let (cutoffs, now) = counted.now().unzip();
        Ok(CountedSteps {
            column: column.to_owned(),
            question: counted.question().to_string(),
            results: counted.results(),
            no_below: cutoffs.and_then(Cutoffs::no_below).map(Cutoff::value),
            yes_from: cutoffs.and_then(Cutoffs::yes_from).map(Cutoff::value),
            now,
            steps: counted.steps(1),
        })
    }

    /// The probabilities behind a column; `None` when its question is no Yes / No.
    fn count(&self, column: &Column) -> Option<CutoffSteps> {
        if column.output.question_type() != QuestionType::YesNo {
            return None;
        }
        let mut counted = CutoffSteps::of(column);
        for result in self.answered() {
            counted.add(result);
        }
        Some(counted)
    }
}
