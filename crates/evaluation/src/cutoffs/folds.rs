//! Five-fold cross-validation: counts of rows by whole percent in five folds. A threshold that is
//! chosen on four folds is validated on the fifth.

use refract_domain::answer::probability::{ONE, Probability};

use crate::measures::forecast::Forecast;
use crate::measures::proportion::Proportion;

/// Number of folds.
const FOLDS: usize = 5;
/// Whole percents from 0 to 100, and one step above that no row reaches.
const STEPS: usize = 102;
/// Millionths in a percent.
const PERCENT: u32 = ONE / 100;

/// Number of rows at or above each whole percent of probability.
#[derive(Clone, Debug)]
pub(crate) struct PercentCounts {
    /// All rows, including those without a forecast.
    rows: u64,
    /// For each percent, how many of the forecasts at or above it came true.
    from: [Proportion; STEPS],
}

/// The counts of each fold; row `i` is in fold `i mod 5`.
#[derive(Clone, Debug)]
pub(crate) struct Folds {
    folds: [PercentCounts; FOLDS],
}

/// The rows of one fold, and those of the other folds.
pub(crate) struct HeldOut<'a> {
    /// The fold on which a choice is validated.
    pub(crate) fold: &'a PercentCounts,
    /// The other folds, on which the choice is made.
    pub(crate) others: PercentCounts,
}

impl PercentCounts {
    fn new() -> Self {
        Self {
            rows: 0,
            from: [Proportion::default(); STEPS],
        }
    }

    /// Number of rows, including those without a forecast.
    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    /// How many of the forecasts at or above a percent came true.
    pub(crate) fn from(&self, percent: u32) -> Proportion {
        let step = usize::try_from(percent).ok();
        let counted = step.and_then(|step| self.from.get(step));
        counted.copied().unwrap_or_default()
    }

    /// How many of the forecasts below a percent came true.
    pub(crate) fn below(&self, percent: u32) -> Proportion {
        let (all, from) = (self.from(0), self.from(percent));
        Proportion {
            count: all.count - from.count,
            of: all.of - from.of,
        }
    }

    /// Recall: the share at or above a percent among all forecasts that came true.
    pub(crate) fn recall_from(&self, percent: u32) -> Proportion {
        Proportion {
            count: self.from(percent).count,
            of: self.from(0).count,
        }
    }

    fn add(&mut self, forecast: Option<Forecast>) {
        self.rows += 1;
        let Some(forecast) = forecast else { return };
        let percent = percent(forecast.probability);
        if let Some(counted) = self.from.get_mut(percent) {
            counted.add(forecast.came_true);
        }
    }

    /// Turns counts of single percents into cumulative counts from each percent on.
    fn sum_up(&mut self) {
        let mut sum = Proportion::default();
        for counted in self.from.iter_mut().rev() {
            sum += *counted;
            *counted = sum;
        }
    }

    fn add_all(&mut self, other: &Self) {
        self.rows += other.rows;
        for (sum, counted) in self.from.iter_mut().zip(&other.from) {
            *sum += *counted;
        }
    }
}

/// A probability in whole percents, rounded down, 0 to 100.
fn percent(probability: Probability) -> usize {
    usize::try_from(probability.millionths() / PERCENT).unwrap_or(usize::MAX)
}

impl Folds {
    /// Counts rows in order; a row without a forecast only adds to its fold's number of rows.
    pub(crate) fn new(rows: impl Iterator<Item = Option<Forecast>>) -> Self {
        let mut folds = std::array::from_fn(|_| PercentCounts::new());
        let mut rows = rows;
        'rows: loop {
            for fold in &mut folds {
                let Some(forecast) = rows.next() else {
                    break 'rows;
                };
                fold.add(forecast);
            }
        }
        for fold in &mut folds {
            fold.sum_up();
        }
        Self { folds }
    }

    /// The counts of all rows.
    pub(crate) fn all(&self) -> PercentCounts {
        sum(self.folds.iter())
    }

    /// Each fold with the sum of the other folds.
    pub(crate) fn held_out(&self) -> impl Iterator<Item = HeldOut<'_>> {
        let folds = self.folds.iter().enumerate();
        folds.map(|(number, fold)| {
            let others = self.folds.iter().enumerate();
            let others = others.filter(|(other, _)| *other != number);
            HeldOut {
                fold,
                others: sum(others.map(|(_, fold)| fold)),
            }
        })
    }
}

fn sum<'a>(folds: impl Iterator<Item = &'a PercentCounts>) -> PercentCounts {
    let mut sum = PercentCounts::new();
    for fold in folds {
        sum.add_all(fold);
    }
    sum
}
