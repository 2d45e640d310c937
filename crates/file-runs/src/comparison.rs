//! Compares two runs of one file, row by row: what another version answers otherwise.

use refract_boxed_futures::boxed;
use refract_domain::ids::ResultId;
use refract_domain::lens::Column;
use refract_lens_rendering::cell_text;
use refract_service::CallError;
use refract_service::results::ReadableResult;

use crate::file_run::FileRun;
use crate::input::{InputError, KeptCells};
use crate::run::{FilePart, RowChunk, RowChunks};

/// Upper bound on the rows that are listed.
const MOST_LISTED: usize = 50;

/// The answers of two runs to the rows that both answered.
#[derive(Debug, Default)]
pub struct ComparedRuns {
    /// Number of rows that both answered.
    pub rows: u64,
    /// A comparison for each question that both versions ask.
    pub columns: Vec<ColumnComparison>,
    /// The first fifty cells that differ.
    pub differing: Vec<DifferingRow>,
    /// Whether the file has more rows than were compared.
    pub has_more: bool,
}

/// The answers to one question in both runs.
#[derive(Debug)]
pub struct ColumnComparison {
    /// The question's key.
    pub name: String,
    /// Number of rows with equal answers.
    pub equal: u64,
    /// Number of rows with different answers.
    pub different: u64,
}

/// A row with different answers to one question.
#[derive(Debug)]
pub struct DifferingRow {
    /// The line on which the row begins.
    pub line: u64,
    /// The first field's text.
    pub text: String,
    /// The question's key.
    pub column: String,
    /// Both answers, as labels.
    pub values: [String; 2],
    /// Both results.
    pub results: [ResultId; 2],
}

/// Why two runs could not be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareRunsError {
    /// The file cannot be read.
    #[error("the file cannot be read: {0}")]
    Input(#[from] InputError),
    /// The results cannot be read.
    #[error(transparent)]
    Call(#[from] CallError),
}

#[boxed]
impl ComparedRuns {
    /// Compares the first rows of two runs of one file. Both must have the same prism.
    ///
    /// # Errors
    /// When the file or the results cannot be read.
    pub async fn of(a: &FileRun, b: &FileRun, rows: u64) -> Result<Self, CompareRunsError> {
        let asked = a.prism.answer_columns();
        let of_b = b.prism.answer_columns();
        let both = |column: &Column| of_b.iter().any(|other| other.question == column.question);
        let columns: Vec<_> = asked.into_iter().filter(both).collect();
        let mut compared = Self {
            columns: columns.iter().map(ColumnComparison::none).collect(),
            ..Self::default()
        };
        let part = FilePart {
            after: 0,
            most_accepted: Some(rows),
        };
        let mut chunks_of_a = RowChunks::read(a, part, None, KeptCells::None);
        let mut chunks_of_b = RowChunks::read(b, part, None, KeptCells::None);
        let mut accepted = 0;
        // both read the same bytes, so their chunks are cut alike
        while let (Some(of_a), Some(of_b)) = (chunks_of_a.next().await?, chunks_of_b.next().await?)
        {
            accepted += u64::try_from(of_a.keys.len()).unwrap_or(u64::MAX);
            compared.add(a, b, &columns, &of_a, &of_b).await?;
        }
        compared.has_more = accepted >= rows;
        Ok(compared)
    }

    async fn add(
        &mut self,
        a: &FileRun,
        b: &FileRun,
        columns: &[Column],
        of_a: &RowChunk,
        of_b: &RowChunk,
    ) -> Result<(), CompareRunsError> {
        let mut held_by_a = a.prism.find_results_of_rows(&of_a.keys).await?;
        let mut held_by_b = b.prism.find_results_of_rows(&of_b.keys).await?;
        let accepted = of_a.rows.iter().filter(|row| row.content.is_ok());
        for ((row, key_a), key_b) in accepted.zip(&of_a.keys).zip(&of_b.keys) {
            let pair = (held_by_a.remove(key_a), held_by_b.remove(key_b));
            let (Some(from_a), Some(from_b)) = pair else {
                continue;
            };
            if from_a.is_ok() && from_b.is_ok() {
                self.rows += 1;
                self.add_row(row.line, columns, [&from_a, &from_b]);
            }
        }
        Ok(())
    }

    fn add_row(&mut self, line: u64, columns: &[Column], results: [&ReadableResult; 2]) {
        let [a, b] = results.map(ReadableResult::view);
        let pairs = a.values(columns).zip(b.values(columns));
        for ((counted, column), (value_a, value_b)) in
            self.columns.iter_mut().zip(columns).zip(pairs)
        {
            let values = [cell_text(value_a), cell_text(value_b)];
            if values[0] == values[1] {
                counted.equal += 1;
                continue;
            }
            counted.different += 1;
            if self.differing.len() < MOST_LISTED {
                let text = a.fields.as_slice().first().map_or("", |(_, text)| text);
                self.differing.push(DifferingRow {
                    line,
                    text: text.to_owned(),
                    column: column.question.to_string(),
                    values,
                    results: [a.id, b.id],
                });
            }
        }
    }
}

impl ColumnComparison {
    fn none(column: &Column) -> Self {
        Self {
            name: column.question.to_string(),
            equal: 0,
            different: 0,
        }
    }
}
