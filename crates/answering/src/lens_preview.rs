//! What another lens would make of the results that are stored, without asking a model.

use refract_domain::lens::{Column, Output, Value};
use refract_domain::prism::PrismVersion;
use refract_domain::view::ResultView;

use crate::lens_tally::CellTally;

/// What would change for readers, counted over results that were answered.
pub struct LensPreview {
    /// The columns of the new lens, in order.
    pub columns: Vec<ColumnPreview>,
    /// The columns of the lens as it is that the new one has not.
    pub dropped: Vec<Column>,
    /// Results that were looked at.
    pub results: u64,
    before: Vec<Column>,
    after: Vec<Column>,
}

/// What would become of one column.
pub struct ColumnPreview {
    /// The column of the new lens.
    pub column: Column,
    /// Cells that would show something else; `None` for a column that the lens as it is has not.
    pub changed: Option<u64>,
    /// What would stand in its cells.
    pub after: CellTally,
    /// What stands in the cells of the column of that name now, where both show the same kind of
    /// thing and so can be compared.
    pub before: Option<CellTally>,
    /// The place of that column in the lens as it is.
    place: Option<usize>,
}

impl LensPreview {
    /// A preview of these columns instead of those; nothing is counted yet.
    pub fn new(before: &[Column], after: &[Column], latest: &PrismVersion) -> Self {
        let columns = after.iter().map(|column| {
            let place = before.iter().position(|other| other.name == column.name);
            let alike = place
                .and_then(|place| before.get(place))
                .filter(|other| shows_alike(other, column));
            let question = latest.question(&column.question);
            ColumnPreview {
                column: column.clone(),
                changed: place.map(|_| 0),
                after: CellTally::new(column.output, question),
                before: alike.map(|other| CellTally::new(other.output, question)),
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
                *changed += u64::from(!is_same(*before, after));
            }
            if let (Some(tally), Some(before)) = (&mut preview.before, before) {
                tally.add(*before);
            }
            preview.after.add(after);
        }
    }

    /// Cells of columns that both lenses have.
    pub fn cells(&self) -> u64 {
        let kept = self
            .columns
            .iter()
            .filter(|column| column.changed.is_some());
        kept.map(|_| self.results).sum()
    }

    /// Those of them that would show something else.
    pub fn changed(&self) -> u64 {
        self.columns
            .iter()
            .filter_map(|column| column.changed)
            .sum()
    }
}

/// Whether two columns differ in their cutoffs at most.
fn shows_alike(one: &Column, other: &Column) -> bool {
    let kind = |output: Output| (output.question_type(), output.name());
    one.question == other.question && kind(one.output) == kind(other.output)
}

/// Whether two values of one result read alike in every format.
fn is_same(one: Value<'_>, other: Value<'_>) -> bool {
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
