//! Choosing the cutoffs of a Yes / No question on some rows. And five-fold cross-validation: a
//! threshold that is chosen on four folds is validated on the fifth.

use std::cmp::{Ordering, Reverse};

use refract_domain::answer::probability::{ONE, Probability};

use crate::measures::{Forecast, Proportion, to_f64};

/// The costs of a wrong yes and of a wrong no.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WrongAnswerCosts {
    /// Cost of a yes that is marked no.
    pub(crate) yes: f64,
    /// Cost of a no that is marked yes.
    pub(crate) no: f64,
}

/// Cutoffs in whole percents that were chosen on some rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ChosenPercents {
    /// The answer is no below this percent; `None` if it is never no.
    pub(crate) no_below: Option<u32>,
    /// The answer is yes from this percent on; `None` if it is never yes.
    pub(crate) yes_from: Option<u32>,
}

impl ChosenPercents {
    /// One cutoff for both yes and no, without `unsure`.
    pub(crate) fn one(percent: Option<u32>) -> Self {
        Self {
            no_below: percent,
            yes_from: percent,
        }
    }
}

impl WrongAnswerCosts {
    /// The cost of these wrong answers; `None` when a cost is negative or not finite.
    pub(crate) fn of(self, wrong_yes: u64, wrong_no: u64) -> Option<f64> {
        let is_cost = |cost: f64| cost >= 0.0 && cost.is_finite();
        (is_cost(self.yes) && is_cost(self.no))
            .then(|| self.yes * to_f64(wrong_yes) + self.no * to_f64(wrong_no))
    }
}

/// The whole percent from which the share of marked yes reaches the target: of those that do, the one
/// with the greatest recall, then the greatest precision, then the [middle] of its gap.
pub(crate) fn yes_from(counts: &PercentCounts, target: Target) -> Option<u32> {
    let reached = (1..=100).filter(|percent| target.is_reached_by(counts.from(*percent)));
    let best = reached.max_by_key(|percent| most_found(counts.from(*percent)))?;
    middle(yes_gap(counts, best))
}

/// The whole percent, at most `yes_from`, below which the share of marked no reaches the target:
/// chosen like [`yes_from()`], and `yes_from` itself where that finds the same.
pub(crate) fn no_below(
    counts: &PercentCounts,
    target: Target,
    yes_from: Option<u32>,
) -> Option<u32> {
    let found = |percent: u32| counts.below(percent).others();
    let highest = yes_from.unwrap_or(99).min(99);
    let reached = (1..=highest).filter(|percent| target.is_reached_by(found(*percent)));
    let best = reached.max_by_key(|percent| most_found(found(*percent)))?;
    if yes_from == Some(highest) && found(highest) == found(best) {
        return Some(highest);
    }
    middle(no_gap(counts, best).filter(|percent| *percent <= highest))
}

/// The whole percent at which the recall of yes reaches the target: of those that do, the one with
/// the greatest precision, then the greatest recall, then the [middle] of its gap.
pub(crate) fn recalled_from(counts: &PercentCounts, target: Target) -> Option<u32> {
    let mut reached = (1..=99).filter(|percent| target.is_reached_by(counts.recall_from(*percent)));
    let mut best = reached.next()?;
    for percent in reached {
        let (more, less) = (counts.from(percent), counts.from(best));
        if compare(more, less).then(more.count.cmp(&less.count)) == Ordering::Greater {
            best = percent;
        }
    }
    middle(yes_gap(counts, best).filter(|percent| *percent <= 99))
}

/// The whole percent with the least cost, then the fewest wrong answers, as one cutoff; the [middle]
/// of its gap. `None` without rows, and when a cost is negative or not finite.
pub(crate) fn least_costs(counts: &PercentCounts, costs: WrongAnswerCosts) -> Option<u32> {
    if counts.rows() == 0 {
        return None;
    }
    let mut least: Option<(u32, f64, u64)> = None;
    for percent in 1..=99 {
        let wrong_yes = counts.from(percent).others().count;
        let wrong_no = counts.below(percent).count;
        let cost = costs.of(wrong_yes, wrong_no)?;
        let wrong = wrong_yes + wrong_no;
        if least.is_none_or(|(_, least, fewest)| (cost, wrong) < (least, fewest)) {
            least = Some((percent, cost, wrong));
        }
    }
    let (best, ..) = least?;
    middle(yes_gap(counts, best).filter(|percent| *percent <= 99))
}

/// Whether one cutoff gives at least the precision and the recall of another on the same marks, and
/// one of them is greater.
pub(crate) fn dominates(one: Proportion, other: Proportion) -> bool {
    let precision = compare(one, other);
    one.count >= other.count && precision.is_ge() && (one.count > other.count || precision.is_gt())
}

/// The whole percents from which yes finds the same rows as from this one: there is no forecast
/// between them. They are in ascending order.
pub(crate) fn yes_gap(counts: &PercentCounts, percent: u32) -> impl Iterator<Item = u32> {
    let found = counts.from(percent);
    (1..=100).filter(move |other| counts.from(*other) == found)
}

/// The whole percents below which no finds the same rows as below this one, in ascending order.
pub(crate) fn no_gap(counts: &PercentCounts, percent: u32) -> impl Iterator<Item = u32> {
    yes_gap(counts, percent).filter(|percent| *percent <= 99)
}

/// The middle of a gap: where new forecasts fall between the old ones, either edge would count them
/// all for one side.
fn middle(mut gap: impl Iterator<Item = u32>) -> Option<u32> {
    let first = gap.next()?;
    Some(first.midpoint(gap.last().unwrap_or(first)))
}

/// Orders what cutoffs find by recall, then by precision.
fn most_found(found: Proportion) -> (u64, Reverse<u64>) {
    (found.count, Reverse(found.of))
}

/// Compares two shares exactly; a share of nothing is the least.
fn compare(one: Proportion, other: Proportion) -> Ordering {
    let product = |a: Proportion, b: Proportion| u128::from(a.count) * u128::from(b.of);
    match (one.of, other.of) {
        (0, 0) => Ordering::Equal,
        (0, _) => Ordering::Less,
        (_, 0) => Ordering::Greater,
        (_, _) => product(one, other).cmp(&product(other, one)),
    }
}

/// Millionths in a percent.
const PERCENT: u32 = ONE / 100;

/// A required share of correct rows, in whole millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    millionths: u32,
}

impl Target {
    /// The share, rounded to the nearest millionth; `None` outside 0 to 1.
    pub(crate) fn new(share: f64) -> Option<Self> {
        let millionths = Probability::from_f64(share)?.millionths();
        Some(Self { millionths })
    }

    /// The share itself, then shares that are higher by whole percents, and finally 1.
    ///
    /// A threshold chosen as the lowest that reaches a target is optimistic: held-out rows do
    /// slightly worse. When they miss the goal, the next target is tried.
    pub(crate) fn raised(self) -> impl Iterator<Item = Self> {
        let next = |target: &Self| {
            (target.millionths < ONE).then(|| Self {
                millionths: (target.millionths + PERCENT).min(ONE),
            })
        };
        std::iter::successors(Some(self), next)
    }

    /// Whether the proportion is at least this share; never for a proportion of no rows.
    pub(crate) fn is_reached_by(self, proportion: Proportion) -> bool {
        let reached = u128::from(proportion.count) * u128::from(ONE);
        let wanted = u128::from(proportion.of) * u128::from(self.millionths);
        proportion.of > 0 && reached >= wanted
    }
}

/// Number of folds.
const FOLDS: usize = 5;
/// [`FOLDS`] as the divisor of a hash.
const FOLD_COUNT: u64 = 5;
/// Whole percents from 0 to 100, and one step above that no row reaches.
const STEPS: usize = 102;

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
