//! What another lens would make of stored results, without asking a model.

mod label_moves;

use self::label_moves::LabelCell;
pub use self::label_moves::{LabelMoves, NowLabels};
use crate::counting::column_tally::ColumnTally;
use refract_domain::answer::probability::Probability;
use refract_domain::lens::{Column, Output, Value};
use refract_domain::prism::PrismVersion;
use refract_domain::result::view::AnswersView;

/// What would change for readers, counted over answered results.
pub struct LensPreview {
    /// The columns of the new lens, in order.
    pub columns: Vec<ColumnPreview>,
    /// Columns of the current lens that the new lens lacks.
    pub dropped: Vec<Column>,
    /// Number of results that were counted.
    pub results: u64,
    /// Number of results in which at least one cell, in the columns that both lenses have, would show
    /// another value.
    pub changed_results: u64,
    before: Vec<Column>,
    after: Vec<Column>,
    /// For each label column of the new lens, a column of the same question's probability.
    probabilities: Vec<Column>,
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
    /// What moving the column's cutoffs would change; `None` for a column without cutoffs.
    pub moves: Option<LabelMoves>,
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
                moves: column.output.cutoffs().map(|_| LabelMoves::default()),
                place,
            }
        });
        let is_dropped = |column: &&Column| !after.iter().any(|other| other.name == column.name);
        Self {
            columns: columns.collect(),
            dropped: before.iter().filter(is_dropped).cloned().collect(),
            results: 0,
            changed_results: 0,
            before: before.to_vec(),
            after: after.to_vec(),
            probabilities: after.iter().filter_map(probability_of).collect(),
        }
    }

    /// Counts a result.
    pub fn add(&mut self, result: AnswersView<'_>) {
        self.results += 1;
        let pairs = self.pairs(result);
        let changes = pairs.iter().filter(|pair| pair.is_changed()).count();
        self.changed_results += u64::from(changes > 0);
        for (preview, pair) in self.columns.iter_mut().zip(pairs) {
            let is_changed = pair.is_changed();
            if let Some(changed) = &mut preview.changed {
                *changed += u64::from(is_changed);
            }
            if let (Some(tally), Some(before)) = (&mut preview.before, pair.before) {
                tally.add(before);
            }
            preview.after.add(pair.after);
            if let Some(moves) = &mut preview.moves {
                moves.add(LabelCell {
                    probability: pair.probability,
                    now: pair.before.and_then(Value::yes_no),
                    is_changed,
                    is_changed_elsewhere: changes > usize::from(is_changed),
                });
            }
        }
    }

    /// What one result shows in each column of the new lens, now and with the new lens.
    pub fn pairs<'a>(&self, result: AnswersView<'a>) -> Vec<CellPair<'a>> {
        let before: Vec<_> = result.values(&self.before).collect();
        let mut probabilities = result.values(&self.probabilities);
        let pair = |(preview, after): (&ColumnPreview, Value<'a>)| CellPair {
            before: preview.place.and_then(|place| before.get(place)).copied(),
            after,
            probability: match preview.moves {
                Some(_) => probabilities.next().and_then(Value::probability),
                None => None,
            },
        };
        let after = result.values(&self.after);
        self.columns.iter().zip(after).map(pair).collect()
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

/// What stands in one place of a row, now and with the new lens.
#[derive(Clone, Copy, Debug)]
pub struct CellPair<'a> {
    /// The value now; `None` when the current lens has no column of this name.
    pub before: Option<Value<'a>>,
    /// The value with the new lens.
    pub after: Value<'a>,
    /// The stored probability of yes that the new lens labels; `None` in columns of another output
    /// and in empty cells.
    pub probability: Option<Probability>,
}

impl CellPair<'_> {
    /// Whether the new lens writes another value in some format; a new column changes nothing.
    pub fn is_changed(&self) -> bool {
        self.before
            .is_some_and(|before| !is_written_alike(before, self.after))
    }
}

/// A column of the probabilities that a label column labels; `None` for other columns.
fn probability_of(column: &Column) -> Option<Column> {
    column.output.cutoffs().map(|_| Column {
        output: Output::YesProbability,
        ..column.clone()
    })
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
