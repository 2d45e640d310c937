//! Proportions of rows, and their confidence intervals.

use std::ops::AddAssign;

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
pub(crate) fn wilson(share: f64, rows: f64) -> Interval {
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
