//! What another lens would make of stored results, without asking a model.

use crate::column_tally::ColumnTally;
use crate::lens::{Column, Output, Value};
use crate::prism::PrismVersion;
use crate::view::ResultView;

/// What would change for readers, counted over answered results.
pub struct LensPreview {
    /// The columns of the new lens, in order.
    pub columns: Vec<ColumnPreview>,
    /// Columns of the current lens that the new lens lacks.
    pub dropped: Vec<Column>,
    /// Number of results that were counted.
    pub results: u64,
    before: Vec<Column>,
    after: Vec<Column>,
}

/// What one column of the new lens would show.
pub struct ColumnPreview {
    /// Cells that would show another value; `None` when the current lens has no column of this name.
    pub changed: Option<u64>,
    /// The column of the new lens and what would stand in its cells.
    pub after: ColumnTally,
    /// What stands in the column of this name now; `None` when the current lens has no such column
    /// or one that cannot be compared, because it reads another question or has another output.
    pub before: Option<ColumnTally>,
    /// The position of the current lens's column of this name.
    place: Option<usize>,
}

impl LensPreview {
    /// An empty preview of the columns `after` in place of the columns `before`.
    pub fn new(before: &[Column], after: &[Column], latest: &PrismVersion) -> Self {
        let columns = after.iter().map(|column| {
            let place = before.iter().position(|other| other.name == column.name);
            let alike = place
                .and_then(|place| before.get(place))
                .filter(|other| shows_alike(other, column));
            let question = latest.question(&column.question);
            ColumnPreview {
                changed: place.map(|_| 0),
                after: ColumnTally::new(column, question),
                before: alike.map(|other| ColumnTally::new(other, question)),
                place,
            }
        });
        let is_dropped = |column: &&Column| !after.iter().any(|other| other.name == column.name);
        Self {
            columns: columns.collect(),
            dropped: before.iter().filter(is_dropped).cloned().collect(),
            results: 0,
            before: before.to_vec(),
            after: after.to_vec(),
        }
    }

    /// Counts a result.
    pub fn add(&mut self, result: &ResultView<'_>) {
        self.results += 1;
        let before: Vec<_> = result.values(&self.before).collect();
        for (preview, after) in self.columns.iter_mut().zip(result.values(&self.after)) {
            let before = preview.place.and_then(|place| before.get(place));
            if let (Some(changed), Some(before)) = (&mut preview.changed, before) {
                *changed += u64::from(!is_written_alike(*before, after));
            }
            if let (Some(tally), Some(before)) = (&mut preview.before, before) {
                tally.add(*before);
            }
            preview.after.add(after);
        }
    }

    /// Number of cells in the columns that both lenses have.
    pub fn cells(&self) -> u64 {
        let kept = self
            .columns
            .iter()
            .filter(|column| column.changed.is_some());
        kept.map(|_| self.results).sum()
    }

    /// Number of cells, in the columns that both lenses have, that would show another value.
    pub fn changed(&self) -> u64 {
        self.columns
            .iter()
            .filter_map(|column| column.changed)
            .sum()
    }
}

/// Whether two columns read one question with one output; their cutoffs may differ.
fn shows_alike(one: &Column, other: &Column) -> bool {
    let kind = |output: Output| (output.question_type(), output.name());
    one.question == other.question && kind(one.output) == kind(other.output)
}

/// Whether two values of one result are written alike in every format.
fn is_written_alike(one: Value<'_>, other: Value<'_>) -> bool {
    match (one, other) {
        (Value::Null, Value::Null) => true,
        (
            Value::Outcome { key, label },
            Value::Outcome {
                key: other_key,
                label: other_label,
            },
        ) => (key, label) == (other_key, other_label),
        (Value::YesNo(one), Value::YesNo(other)) => one == other,
        (Value::Probability(one), Value::Probability(other)) => one == other,
        (Value::Position(one), Value::Position(other)) => one == other,
        (Value::Average(one), Value::Average(other)) => one == other,
        (
            Value::All { question, .. },
            Value::All {
                question: other, ..
            },
        ) => question.key == other.key,
        (
            Value::Null
            | Value::Outcome { .. }
            | Value::YesNo(_)
            | Value::Probability(_)
            | Value::Position(_)
            | Value::Average(_)
            | Value::All { .. },
            _,
        ) => false,
    }
}

#[cfg(test)]
pub(crate) mod tests;
