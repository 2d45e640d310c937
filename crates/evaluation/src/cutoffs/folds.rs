//! Five-fold cross-validation: counts of rows by whole percent in five folds. A threshold that is
//! chosen on four folds is validated on the fifth.

use refract_domain::answer::probability::{ONE, Probability};

use crate::measures::{Forecast, Proportion};

/// Number of folds.
const FOLDS: usize = 5;
/// [`FOLDS`] as the divisor of a hash.
const FOLD_COUNT: u64 = 5;
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

/// The counts of each fold. A hash of a row's probability, of whether it came true and of how many
/// equal rows precede it decides its fold: at random with regard to the rows, the same for every order
/// of them, and unchanged by further ones.
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
    /// Counts rows; a row without a forecast only adds to its fold's number of rows.
    pub(crate) fn new(rows: impl Iterator<Item = Option<Forecast>>) -> Self {
        let mut rows: Vec<_> = rows.map(|row| (row_code(row), row)).collect();
        rows.sort_unstable_by_key(|(code, _)| *code);
        let mut folds = std::array::from_fn(|_| PercentCounts::new());
        for equal in rows.chunk_by(|(one, _), (other, _)| one == other) {
            for ((code, row), place) in equal.iter().zip(0_u64..) {
                let fold = usize::try_from(mixed(code << 32 | place) % FOLD_COUNT);
                if let Some(fold) = fold.ok().and_then(|fold| folds.get_mut(fold)) {
                    fold.add(*row);
                }
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

/// A number for a row, the same for rows that are equal.
fn row_code(row: Option<Forecast>) -> u64 {
    row.map_or(u64::from(u32::MAX), |row| {
        u64::from(row.probability.millionths()) * 2 + u64::from(row.came_true)
    })
}

/// The finalizer of `SplitMix64`: G. L. Steele, D. Lea and C. H. Flood, "Fast splittable pseudorandom
/// number generators" (2014).
fn mixed(code: u64) -> u64 {
    let code = (code ^ (code >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let code = (code ^ (code >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    code ^ (code >> 31)
}
