//! Two sets of answers to the same texts: which is correct more often, and whether the difference
//! may be chance.

pub(crate) mod bootstrap;

use std::cmp::Ordering;

use crate::measures::proportion::{Interval, Proportion, to_f64};

/// The p-value of McNemar's test below which a difference is called unlikely to be chance.
const SIGNIFICANT: f64 = 0.05;

/// Which of two sets of answers is better, if either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonVerdict {
    /// Both are correct equally often.
    Equal,
    /// One is correct more often, but so large a difference may be chance.
    MayBeChance,
    /// The first is better.
    FirstIsBetter,
    /// The second is better.
    SecondIsBetter,
}

/// Counts the rows that two versions or models both answered, by which of the two answers are
/// correct.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairedAnswers {
    both_right: u64,
    only_a_right: u64,
    only_b_right: u64,
    both_wrong: u64,
}

/// Accuracy of two sets of answers to the same rows.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Comparison {
    /// Rows that both sets answer.
    pub rows: u64,
    /// Rows that the first set answers correctly.
    pub a: Proportion,
    /// Rows that the second set answers correctly.
    pub b: Proportion,
    /// Accuracy of the second answers minus that of the first, -1 to 1; `None` without rows.
    pub difference: Option<f64>,
    /// 95 % interval of the difference: the percentile interval of the paired bootstrap, computed
    /// for infinitely many draws, so it is the same in every run.
    pub interval: Option<Interval>,
    /// Rows that only the first set answers correctly.
    pub only_a_right: u64,
    /// Rows that only the second set answers correctly.
    pub only_b_right: u64,
    /// The two-sided p-value of McNemar's exact test: the probability of at least this imbalance
    /// between two equally good sets of answers.
    pub mcnemar_p: f64,
}

impl PairedAnswers {
    /// Adds a row that both sets answer.
    pub fn add(&mut self, a_right: bool, b_right: bool) {
        let count = match (a_right, b_right) {
            (true, true) => &mut self.both_right,
            (true, false) => &mut self.only_a_right,
            (false, true) => &mut self.only_b_right,
            (false, false) => &mut self.both_wrong,
        };
        *count += 1;
    }

    /// Compares the two sets over all rows.
    pub fn compare(&self) -> Comparison {
        let Self {
            both_right,
            only_a_right,
            only_b_right,
            both_wrong,
        } = *self;
        let rows = both_right + only_a_right + only_b_right + both_wrong;
        let right = |only| Proportion {
            count: both_right + only,
            of: rows,
        };
        Comparison {
            rows,
            a: right(only_a_right),
            b: right(only_b_right),
            difference: bootstrap::mean(rows, only_b_right, only_a_right),
            interval: bootstrap::interval(rows, only_b_right, only_a_right),
            only_a_right,
            only_b_right,
            mcnemar_p: mcnemar_exact_p(only_a_right, only_b_right),
        }
    }
}

impl Comparison {
    /// Which set of answers is better, if either.
    pub fn verdict(&self) -> ComparisonVerdict {
        let may_be_chance = self.mcnemar_p >= SIGNIFICANT;
        match self.only_b_right.cmp(&self.only_a_right) {
            Ordering::Equal => ComparisonVerdict::Equal,
            Ordering::Less | Ordering::Greater if may_be_chance => ComparisonVerdict::MayBeChance,
            Ordering::Less => ComparisonVerdict::FirstIsBetter,
            Ordering::Greater => ComparisonVerdict::SecondIsBetter,
        }
    }
}

/// The two-sided p-value: the probability of at least this imbalance between two equally good sets
/// of answers; 1 when no row differs.
///
/// `one` and `other` count the rows that only the first or only the second set answers correctly.
/// Under the null hypothesis both are equally likely for such a row, so the smaller count is
/// binomial with probability one half. This distribution is symmetric, so twice one tail is exact.
///
/// The binomial's terms are summed as multiples of the central one, going outwards, and divided by
/// their total. This needs no factorial, and nothing overflows.
///
/// Source: Q. McNemar, "Note on the sampling error of the difference between correlated proportions
/// or percentages", Psychometrika 12 (1947); the exact form is a sign test.
fn mcnemar_exact_p(one: u64, other: u64) -> f64 {
    let rows = one + other;
    let smaller = one.min(other);
    let centre = rows / 2;
    // the largest term of the lower half; for an even number of rows it is the distribution's
    // centre
    let mut term = 1.0;
    let mut tail = 0.0;
    let mut half = 0.0;
    for successes in (0..=centre).rev() {
        half += term;
        if successes <= smaller {
            tail += term;
        }
        term *= to_f64(successes) / to_f64(rows - successes + 1);
        if term == 0.0 {
            break;
        }
    }
    let all = if rows.is_multiple_of(2) {
        2.0 * half - 1.0
    } else {
        2.0 * half
    };
    (2.0 * tail / all).min(1.0)
}
