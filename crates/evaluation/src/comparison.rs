//! Two sets of answers to the same texts: which is right more often, and whether that may be luck.

pub(crate) mod bootstrap;
pub(crate) mod mcnemar;

use crate::measures::proportion::{Interval, Proportion};

/// Counts, for rows that two versions or models both answered, which of them was right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PairedAnswers {
    both_right: u64,
    only_a_right: u64,
    only_b_right: u64,
    both_wrong: u64,
}

/// How often two sets of answers to the same rows are right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Comparison {
    /// Rows that both answered.
    pub rows: u64,
    /// Rows that the first answers have right.
    pub a: Proportion,
    /// Rows that the second answers have right.
    pub b: Proportion,
    /// Accuracy of the second answers minus that of the first, -1 to 1; `None` without rows.
    pub difference: Option<f64>,
    /// 95 % interval of the difference: the percentile interval of the paired bootstrap, computed
    /// for infinitely many draws, so it is the same in every run.
    pub interval: Option<Interval>,
    /// Rows that only the first answers have right.
    pub only_a_right: u64,
    /// Rows that only the second answers have right.
    pub only_b_right: u64,
    /// The probability that two equally good sets of answers differ at least so unevenly by chance:
    /// McNemar's exact two-sided test.
    pub mcnemar_p: f64,
}

impl PairedAnswers {
    /// Adds a row that both answered.
    pub fn add(&mut self, a_right: bool, b_right: bool) {
        let count = match (a_right, b_right) {
            (true, true) => &mut self.both_right,
            (true, false) => &mut self.only_a_right,
            (false, true) => &mut self.only_b_right,
            (false, false) => &mut self.both_wrong,
        };
        *count += 1;
    }

    /// Compares the two over all rows.
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
            mcnemar_p: mcnemar::exact_p(only_a_right, only_b_right),
        }
    }
}
