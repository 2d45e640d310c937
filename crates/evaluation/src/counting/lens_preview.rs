//! The effect of another lens on stored results, without asking a model.

use refract_domain::answer::Probability;
use refract_domain::lens::{Column, Output, Value, YesNoLabel};
use refract_domain::prism::PrismVersion;
use refract_domain::result::AnswersView;

use crate::counting::column_tally::ColumnTally;
use crate::counting::percent_histogram::{LabelCounts, PercentCutoffs, PercentHistogram};

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

/// Counts of one label column of a draft lens, by percent of the stored probability. They give the
/// number of changed cells and results for any position of the column's cutoffs, with the draft's
/// other columns unchanged.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LabelMoves {
    /// All probabilities behind the column's labels.
    pub probabilities: PercentHistogram,
    /// Probabilities of the cells that keep their value at some cutoffs, by the current label, in
    /// results that no other column changes.
    pub alone: NowLabels,
    /// Results that change at any cutoffs, in this column or in another.
    pub always_changed_results: u64,
}

/// Probabilities by current label.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct NowLabels {
    /// Probabilities of results that are `yes` now.
    pub yes: PercentHistogram,
    /// Probabilities of results that are `unsure` now.
    pub unsure: PercentHistogram,
    /// Probabilities of results that are `no` now.
    pub no: PercentHistogram,
}

/// A cell of a label column.
#[derive(Clone, Copy)]
pub(super) struct LabelCell {
    /// The stored probability; `None` for an empty cell.
    pub(super) probability: Option<Probability>,
    /// The current label; `None` when the current lens shows no label in this cell.
    pub(super) now: Option<YesNoLabel>,
    /// Whether the draft changes this cell.
    pub(super) is_changed: bool,
    /// Whether the draft changes another column of the result.
    pub(super) is_changed_elsewhere: bool,
}

impl LabelMoves {
    pub(super) fn add(&mut self, cell: LabelCell) {
        if let Some(probability) = cell.probability {
            self.probabilities.add(probability);
        }
        let Some((probability, now)) = cell.probability.zip(cell.now) else {
            let is_changed = cell.is_changed || cell.is_changed_elsewhere;
            self.always_changed_results += u64::from(is_changed);
            return;
        };
        if cell.is_changed_elsewhere {
            self.always_changed_results += 1;
        } else {
            self.alone.add(now, probability);
        }
    }

    /// Number of results with each label when the column has these cutoffs.
    pub fn labels(&self, cutoffs: PercentCutoffs) -> LabelCounts {
        self.probabilities.labels(cutoffs)
    }

    /// Number of results that the draft changes when the column has these cutoffs.
    pub fn changed_results(&self, cutoffs: PercentCutoffs) -> u64 {
        self.always_changed_results + self.alone.changed(cutoffs)
    }
}

impl NowLabels {
    fn add(&mut self, now: YesNoLabel, probability: Probability) {
        let histogram = match now {
            YesNoLabel::Yes => &mut self.yes,
            YesNoLabel::Unsure => &mut self.unsure,
            YesNoLabel::No => &mut self.no,
        };
        histogram.add(probability);
    }

    /// Number of probabilities whose label changes with these cutoffs.
    fn changed(&self, cutoffs: PercentCutoffs) -> u64 {
        let Self { yes, unsure, no } = self;
        yes.labels(cutoffs).others(YesNoLabel::Yes)
            + unsure.labels(cutoffs).others(YesNoLabel::Unsure)
            + no.labels(cutoffs).others(YesNoLabel::No)
    }
}
