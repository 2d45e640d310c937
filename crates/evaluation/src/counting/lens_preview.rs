//! The effect of another lens on stored results, without asking a model.

mod label_moves;

use self::label_moves::LabelCell;
pub use self::label_moves::{LabelMoves, NowLabels};
use crate::counting::column_tally::ColumnTally;
use refract_domain::answer::probability::Probability;
use refract_domain::lens::{Column, Output, Value};
use refract_domain::prism::PrismVersion;
use refract_domain::result::view::AnswersView;

/// Counts of the changes that readers would see, over answered results.
pub struct LensPreview {
    /// The columns of the new lens, in order.
    pub columns: Vec<ColumnPreview>,
    /// Columns of the current lens that the new lens lacks.
    pub dropped: Vec<Column>,
    /// Number of counted results.
    pub results: u64,
    /// Number of results with at least one changed cell in the columns that both lenses have.
    pub changed_results: u64,
    before: Vec<Column>,
    after: Vec<Column>,
    /// For each label column of the new lens, a column with the probability behind the label.
    probabilities: Vec<Column>,
}

/// The preview of one column of the new lens.
pub struct ColumnPreview {
    /// Cells with another value than now; `None` when the current lens has no column of this name.
    pub changed: Option<u64>,
    /// The column of the new lens with the counts of its values.
    pub after: ColumnTally,
    /// The counts of the current column of this name; `None` when the current lens has no such
    /// column, or when its question or output differs and the counts cannot be compared.
    pub before: Option<ColumnTally>,
    /// The effect of moving the column's cutoffs; `None` for a column without cutoffs.
    pub moves: Option<LabelMoves>,
    /// The position of the column with this name in the current lens.
    place: Option<usize>,
}

impl LensPreview {
    /// An empty preview of replacing the columns `before` by the columns `after`.
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

    /// Counts a result. Returns its values now and with the new lens, as [`LensPreview::pairs`].
    pub fn add<'a>(&mut self, result: AnswersView<'a>) -> Vec<CellPair<'a>> {
        self.results += 1;
        let pairs = self.pairs(result);
        let changes = pairs.iter().filter(|pair| pair.is_changed()).count();
        self.changed_results += u64::from(changes > 0);
        for (preview, pair) in self.columns.iter_mut().zip(&pairs) {
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
        pairs
    }

    /// The current and the new value of one result in each column of the new lens.
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

    /// Number of changed cells in the columns that both lenses have.
    pub fn changed(&self) -> u64 {
        self.columns
            .iter()
            .filter_map(|column| column.changed)
            .sum()
    }
}

/// The current and the new value of one cell.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CellPair<'a> {
    /// The current value; `None` when the current lens has no column of this name.
    pub before: Option<Value<'a>>,
    /// The value under the new lens.
    pub after: Value<'a>,
    /// The stored probability of yes behind the new label; `None` for other outputs and for empty
    /// cells.
    pub probability: Option<Probability>,
}

impl CellPair<'_> {
    /// Whether the new value differs in some format; a new column counts as unchanged.
    pub fn is_changed(&self) -> bool {
        self.before
            .is_some_and(|before| !is_written_alike(before, self.after))
    }
}

/// A column of the probabilities behind a label column; `None` for other columns.
fn probability_of(column: &Column) -> Option<Column> {
    column.output.cutoffs().map(|_| Column {
        output: Output::YesProbability,
        ..column.clone()
    })
}

/// Whether two columns have the same question and output; their cutoffs may differ.
fn shows_alike(one: &Column, other: &Column) -> bool {
    let kind = |output: Output| (output.question_type(), output.name());
    one.question == other.question && kind(one.output) == kind(other.output)
}

/// Whether two values of one result are written identically in every format.
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
