//! Proportions of rows, and their confidence intervals. And reliability: how often probabilities
//! come true, in bins of equal count, and in equal steps of probability.

use std::ops::AddAssign;

use refract_domain::answer::probability::{ONE, Probability};
use serde::Serialize;

/// The 97.5 % point of the normal distribution, for intervals of 95 %.
const Z: f64 = 1.959_963_984_540_054;

/// `count` of `of` rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Proportion {
    /// Number of rows with the counted property.
    pub count: u64,
    /// All rows, at least `count`.
    pub of: u64,
}

/// The two ends of an interval that covers the true value with 95 % confidence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Proportion {
    /// The proportion as a number from 0 to 1; `None` for no rows.
    pub fn value(self) -> Option<f64> {
        ratio(self.count, self.of)
    }

    /// Wilson's score interval at 95 %, without a continuity correction; `None` for no rows.
    ///
    /// Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    /// inference", Journal of the American Statistical Association 22 (1927).
    pub fn interval(self) -> Option<Interval> {
        Some(wilson(self.value()?, to_f64(self.of)))
    }

    /// Half the width that the interval is expected to have after `more` rows. Few rows say little about
    /// the share: the middle of their interval is taken for it, one half without rows. `None` for no rows
    /// at all.
    pub fn half_width_after(self, more: u64) -> Option<f64> {
        let middle = |it: Interval| f64::midpoint(it.low, it.high);
        Self::expected_half_width(self.interval().map_or(0.5, middle), self.of + more)
    }

    /// Half the width of Wilson's interval of `rows` rows with a proportion of `share`; `None` for no
    /// rows. It says what an interval will be before the rows exist.
    pub fn expected_half_width(share: f64, rows: u64) -> Option<f64> {
        let rows = to_f64(rows);
        let half = half_width(share, rows);
        (rows > 0.0).then_some(half)
    }

    /// The complement: the rows that are not in `count`, of all rows.
    pub(crate) fn others(self) -> Self {
        Self {
            count: self.of - self.count,
            of: self.of,
        }
    }

    /// Adds one row.
    pub(crate) fn add(&mut self, counts: bool) {
        self.count += u64::from(counts);
        self.of += 1;
    }
}

/// Half the width of Wilson's interval, before it is cut to shares from 0 to 1.
fn half_width(share: f64, rows: f64) -> f64 {
    let spread = share * (1.0 - share) / rows + Z * Z / (4.0 * rows * rows);
    Z / (1.0 + Z * Z / rows) * spread.sqrt()
}

/// Wilson's score interval of a share among a number of rows.
fn wilson(share: f64, rows: f64) -> Interval {
    let scale = 1.0 + Z * Z / rows;
    let centre = (share + Z * Z / (2.0 * rows)) / scale;
    let half = half_width(share, rows);
    // rounding would put an end beside a share of none or all
    Interval {
        low: if share > 0.0 {
            (centre - half).max(0.0)
        } else {
            0.0
        },
        high: if share < 1.0 {
            (centre + half).min(1.0)
        } else {
            1.0
        },
    }
}

impl Interval {
    /// Half of the width: the distance from the middle to either end.
    pub fn half_width(self) -> f64 {
        (self.high - self.low) / 2.0
    }
}

/// Adds the rows of another proportion, which are disjoint from these.
impl AddAssign for Proportion {
    fn add_assign(&mut self, rows: Self) {
        self.count += rows.count;
        self.of += rows.of;
    }
}

/// The double nearest to a count, which is exact below 2^53.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "an f64 holds every count of answers below 2^53 exactly"
)]
pub(crate) fn to_f64(count: u64) -> f64 {
    count as f64
}

/// The quotient of two counts; `None` when the divisor is 0.
pub(crate) fn ratio(count: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| to_f64(count) / to_f64(of))
}

/// The quotient of two sums of counts and distances; `None` when the divisor is 0.
#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "the nearest doubles of the sums are meant"
)]
pub(crate) fn signed_ratio(sum: i128, of: i128) -> Option<f64> {
    (of != 0).then(|| sum as f64 / of as f64)
}

/// The mean of numbers, the same in every order; `None` of none.
pub(crate) fn mean(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_by(f64::total_cmp);
    let count = u64::try_from(numbers.len()).unwrap_or(u64::MAX);
    (count > 0).then(|| numbers.iter().sum::<f64>() / to_f64(count))
}

/// Number of bins of equal count.
const BINS: usize = 15;

/// Rows of neighbouring probabilities, and the share in which the outcome was the marked one.
///
/// For choices and scales the probability is that of the predicted outcome, over the answered rows;
/// for Yes / No that of yes, over all rows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ReliabilityBin {
    /// The lowest probability in the bin.
    pub from: Probability,
    /// The highest probability in the bin.
    pub to: Probability,
    /// Number of rows, at least 1.
    pub count: u64,
    /// Mean of the rows' probabilities.
    pub mean_probability: f64,
    /// Share of rows in which the outcome was the marked one.
    pub share_right: f64,
}

impl ReliabilityBin {
    /// The 95 % interval of the share ([`Proportion::interval`](Proportion)).
    pub fn interval(&self) -> Interval {
        wilson(self.share_right, to_f64(self.count))
    }
}

/// Up to 15 bins of about equal count over the forecasts, sorted by probability.
///
/// Forecasts of one probability stay in one bin, so that no order of rows changes a figure: a bin
/// ends at the first change of probability at or after its share of the rows.
pub(crate) fn bins(mut forecasts: Vec<Forecast>) -> Vec<ReliabilityBin> {
    forecasts.sort_by_key(|forecast| forecast.probability);
    let (size, remainder) = (forecasts.len() / BINS, forecasts.len() % BINS);
    let mut rest = forecasts.as_slice();
    let mut bins = Vec::with_capacity(BINS);
    for number in 1..=BINS {
        let share = number * size + number.min(remainder);
        let taken = forecasts.len() - rest.len();
        let (of_bin, after) = part_at_change(rest, share.saturating_sub(taken));
        bins.extend(bin(of_bin));
        rest = after;
    }
    bins
}

/// Splits sorted forecasts at the first change of probability at or after `least` of them.
fn part_at_change(forecasts: &[Forecast], least: usize) -> (&[Forecast], &[Forecast]) {
    let (within, after) = forecasts
        .split_at_checked(least)
        .unwrap_or((forecasts, &[]));
    let Some(end) = within.last() else {
        return (within, after);
    };
    let alike = after.partition_point(|next| next.probability == end.probability);
    forecasts
        .split_at_checked(least + alike)
        .unwrap_or((forecasts, &[]))
}

/// The bin of forecasts sorted by probability; `None` for no forecasts.
fn bin(forecasts: &[Forecast]) -> Option<ReliabilityBin> {
    let (first, last) = (forecasts.first()?, forecasts.last()?);
    let mut count = 0;
    let mut came_true = 0;
    for forecast in forecasts {
        count += 1;
        came_true += u64::from(forecast.came_true);
    }
    let millionths: u64 = forecasts.iter().map(|forecast| forecast.probability).sum();
    Some(ReliabilityBin {
        from: first.probability,
        to: last.probability,
        count,
        mean_probability: to_f64(millionths) / f64::from(ONE) / to_f64(count),
        share_right: to_f64(came_true) / to_f64(count),
    })
}

/// Expected calibration error: the mean of the bins' absolute differences of mean probability and
/// share, weighted by count. `None` without bins.
///
/// Source: M. P. Naeini, G. F. Cooper, M. Hauskrecht, "Obtaining well calibrated probabilities
/// using Bayesian binning", AAAI 2015; bins of equal count are those of K. Nguyen, B. O'Connor,
/// EMNLP 2015.
pub(crate) fn expected_calibration_error(bins: &[ReliabilityBin]) -> Option<f64> {
    let mut rows = 0;
    let mut sum = 0.0;
    for bin in bins {
        rows += bin.count;
        sum += to_f64(bin.count) * (bin.mean_probability - bin.share_right).abs();
    }
    (rows > 0).then(|| sum / to_f64(rows))
}

/// A model's probability of an outcome, and whether that outcome was marked. Where rows are ordered
/// by confidence, the confidence that follows from the probability is in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forecast {
    /// The model's probability, or the confidence.
    pub(crate) probability: Probability,
    /// Whether the outcome is the marked one.
    pub(crate) came_true: bool,
}

/// Percent of probability in a bar.
pub const STEP: u32 = 5;
/// Number of bars.
const BARS: u32 = 100 / STEP;

/// The rows whose probability is in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistogramBar {
    /// The lowest percent of the step.
    pub from: u32,
    /// The rows, and those of them that came true.
    pub came_true: Proportion,
}

/// A bar for each step from 0 to 100 percent; the last one includes 100.
pub(crate) fn bars(forecasts: Vec<Forecast>) -> Vec<HistogramBar> {
    let bar = |number| HistogramBar {
        from: number * STEP,
        came_true: Proportion::default(),
    };
    let mut bars: Vec<_> = (0..BARS).map(bar).collect();
    for forecast in forecasts {
        let number = forecast.probability.millionths() / (ONE / BARS);
        let place = usize::try_from(number.min(BARS - 1));
        if let Some(bar) = place.ok().and_then(|place| bars.get_mut(place)) {
            bar.came_true.add(forecast.came_true);
        }
    }
    bars
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_rows_narrow_the_interval_around_a_careful_share() {
        let now = Proportion { count: 2, of: 2 };
        let (more, many) = (now.half_width_after(40), now.half_width_after(400));
        assert!(many < more, "{many:?} {more:?}");
        // 2 of 2 do not mean that 42 of 42 will be right
        let all = Proportion { count: 42, of: 42 };
        assert!(more > all.interval().map(Interval::half_width));
    }

    #[test]
    fn the_interval_of_none_or_all_ends_there_exactly() {
        for of in 1..500 {
            let none = Proportion { count: 0, of }.interval().unwrap();
            let all = Proportion { count: of, of }.interval().unwrap();
            assert_eq!((none.low, all.high), (0.0, 1.0), "{of}");
        }
    }

    #[test]
    fn without_rows_the_widest_interval_is_expected() {
        let none = Proportion::default();
        let half = Proportion { count: 50, of: 100 };
        let widest = half.interval().map(Interval::half_width);
        let difference = none.half_width_after(100).unwrap() - widest.unwrap();
        assert!(difference.abs() < 1e-12, "{difference}");
        assert_eq!(none.half_width_after(0), None);
    }
}
