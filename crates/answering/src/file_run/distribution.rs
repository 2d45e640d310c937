//! What stands in each column over many results, for a look at the whole.

use std::collections::BTreeMap;

use refract_domain::lens::{Column, Value};
use refract_domain::view::ResultView;

/// Different cells of one column that are counted apart.
const MOST_CELLS: usize = 300;

/// What stood in one column.
#[derive(Clone, Debug)]
pub struct Distribution {
    /// The column's name.
    pub column: String,
    /// What stood in it.
    pub spread: Spread,
    /// Results with an empty cell.
    pub empty: u64,
}

/// Cells or numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// How often each label or level number stood there, the most frequent first.
    Cells(Vec<(String, u64)>),
    /// Probabilities and averages.
    Numbers {
        /// How many.
        count: u64,
        /// Their mean.
        mean: f64,
        /// The lowest.
        lowest: f64,
        /// The highest.
        highest: f64,
    },
    /// Nothing that can be counted: text lists, or no results.
    Nothing,
}

/// Counts result by result.
pub(crate) struct Counting<'a> {
    columns: &'a [Column],
    counts: Vec<ColumnCount>,
}

#[derive(Clone, Default)]
struct ColumnCount {
    cells: BTreeMap<String, u64>,
    numbers: u64,
    sum: f64,
    lowest: f64,
    highest: f64,
    empty: u64,
}

impl<'a> Counting<'a> {
    pub(crate) fn over(columns: &'a [Column]) -> Self {
        Self {
            columns,
            counts: vec![ColumnCount::default(); columns.len()],
        }
    }

    pub(crate) fn add(&mut self, result: &ResultView<'_>) {
        for (count, value) in self.counts.iter_mut().zip(result.values(self.columns)) {
            match value {
                Value::Null => count.empty += 1,
                Value::Outcome { label, .. } => count.cell(label),
                Value::YesNo(label) => count.cell(label.label()),
                Value::Position(position) => count.cell(&position.to_string()),
                Value::Probability(probability) => count.number(probability.to_f64()),
                Value::Average(average) => {
                    count.number(average.to_string().parse().unwrap_or_default());
                }
                Value::All { .. } => {}
            }
        }
    }

    pub(crate) fn end(self) -> Vec<Distribution> {
        let pairs = self.columns.iter().zip(self.counts);
        let distribution = |(column, count): (&Column, ColumnCount)| Distribution {
            column: column.name.as_str().to_owned(),
            empty: count.empty,
            spread: count.spread(),
        };
        pairs.map(distribution).collect()
    }
}

impl ColumnCount {
    fn cell(&mut self, label: &str) {
        if let Some(count) = self.cells.get_mut(label) {
            *count += 1;
        } else if self.cells.len() < MOST_CELLS {
            self.cells.insert(label.to_owned(), 1);
        }
    }

    fn number(&mut self, number: f64) {
        let is_first = self.numbers == 0;
        self.lowest = if is_first {
            number
        } else {
            self.lowest.min(number)
        };
        self.highest = if is_first {
            number
        } else {
            self.highest.max(number)
        };
        self.sum += number;
        self.numbers += 1;
    }

    fn spread(self) -> Spread {
        if self.numbers > 0 {
            return Spread::Numbers {
                count: self.numbers,
                mean: self.sum / wide(self.numbers),
                lowest: self.lowest,
                highest: self.highest,
            };
        }
        if self.cells.is_empty() {
            return Spread::Nothing;
        }
        let mut cells: Vec<_> = self.cells.into_iter().collect();
        cells.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        Spread::Cells(cells)
    }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "a count of rows, of which nobody has 2^53"
)]
fn wide(count: u64) -> f64 {
    count as f64
}
