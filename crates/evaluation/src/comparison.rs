//! Two sets of answers to the same texts: which is correct more often, and whether the difference
//! may be chance.
//!
//! The percentile interval of the paired bootstrap is computed instead of drawn. A bootstrap draws
//! as many rows as there are, with replacement, many times, and takes the 2.5 % and the 97.5 %
//! quantile of the draws' results. For a difference of two accuracies there are only three kinds of
//! rows: only the second answer is correct (+1), only the first is (-1), and the others (0). So a
//! draw's sum is a sum of independent steps with a known distribution: the limit for infinitely
//! many draws, and the same in every run. The distribution is computed from its characteristic
//! function by the discrete Fourier transform.
//!
//! Sources: B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall 1993,
//! chapter 13; Y. Hong, "On computing the distribution function for the Poisson binomial
//! distribution", Computational Statistics & Data Analysis 59 (2013), for the transform.

use std::cmp::Ordering;
use std::f64::consts::TAU;

use crate::measures::{Interval, Proportion, to_f64};

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
            difference: mean(rows, only_b_right, only_a_right),
            interval: interval(rows, only_b_right, only_a_right),
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

/// Tolerance for the rounding of the transform: a cumulative probability this close below a
/// quantile counts as reaching it.
const ROUNDING: f64 = 1e-12;
/// The transform's window reaches this many standard deviations to both sides of the mean.
const DEVIATIONS: f64 = 20.0;
/// Terms of the transform with a smaller modulus are left out: they change no probability.
const NEGLIGIBLE: f64 = 1e-20;

/// The distribution of the sum of a draw's steps, over a window around its mean. The probability of
/// sums outside the window is too small for a double.
struct StepSums {
    /// Mean of the sums, which is a whole number.
    centre: i64,
    /// Number of sums on each side of the centre.
    half_width: u64,
    terms: Vec<Term>,
}

/// The contribution of one frequency to the distribution function.
struct Term {
    frequency: f64,
    modulus: f64,
    /// Phase at the lowest sum of the window.
    phase: f64,
}

/// The mean of `rows` steps, `ups` of them +1 and `downs` of them -1; `None` for no rows.
pub(crate) fn mean(rows: u64, ups: u64, downs: u64) -> Option<f64> {
    (rows > 0).then(|| divided(signed(ups) - signed(downs), rows))
}

/// The 95 % interval of the mean of `rows` steps, `ups` of them +1 and `downs` of them -1; `None`
/// for no rows.
pub(crate) fn interval(rows: u64, ups: u64, downs: u64) -> Option<Interval> {
    if rows == 0 {
        return None;
    }
    let sums = StepSums::new(rows, ups, downs);
    Some(Interval {
        low: divided(sums.quantile(0.025), rows),
        high: divided(sums.quantile(0.975), rows),
    })
}

fn divided(sum: i64, rows: u64) -> f64 {
    let magnitude = to_f64(sum.unsigned_abs()) / to_f64(rows);
    if sum < 0 { -magnitude } else { magnitude }
}

impl StepSums {
    fn new(rows: u64, ups: u64, downs: u64) -> Self {
        let number = to_f64(rows);
        let (up, down) = (to_f64(ups) / number, to_f64(downs) / number);
        let stays = to_f64(rows - ups - downs) / number;
        let drift = up - down;
        let deviation = (number * (up + down - drift * drift)).max(0.0).sqrt();
        // a window of twice the rows on each side contains every sum
        let half_width = whole(DEVIATIONS * deviation).min(2 * rows);
        let centre = signed(ups) - signed(downs);
        let width = to_f64(2 * half_width + 1);
        let mut terms = Vec::new();
        for number_of_term in 1..=half_width {
            let frequency = TAU * to_f64(number_of_term) / width;
            let (sine, cosine) = frequency.sin_cos();
            let half_sine = (frequency / 2.0).sin();
            // 1 - |characteristic function|^2, without the difference of two numbers close to 1
            let lost =
                4.0 * (stays * (up + down) * half_sine * half_sine + up * down * sine * sine);
            let modulus = (number / 2.0 * (-lost.min(1.0)).ln_1p()).exp();
            if modulus < NEGLIGIBLE {
                continue;
            }
            let angle = (drift * sine).atan2(stays + (up + down) * cosine);
            terms.push(Term {
                frequency,
                modulus,
                phase: number * angle - frequency * (number * drift - to_f64(half_width)),
            });
        }
        Self {
            centre,
            half_width,
            terms,
        }
    }

    /// Probability of the lowest `count` sums of the window.
    ///
    /// The contribution of one frequency to these probabilities is a sum of equally spaced cosines,
    /// which has a closed form.
    fn lowest(&self, count: u64) -> f64 {
        let count = to_f64(count);
        let mut sum = count;
        for term in &self.terms {
            let middle = term.phase - term.frequency * (count - 1.0) / 2.0;
            let spread = (term.frequency * count / 2.0).sin() / (term.frequency / 2.0).sin();
            sum += 2.0 * term.modulus * middle.cos() * spread;
        }
        sum / to_f64(2 * self.half_width + 1)
    }

    /// The smallest sum whose cumulative probability reaches `probability`.
    fn quantile(&self, probability: f64) -> i64 {
        let mut too_few = 0;
        let mut enough = 2 * self.half_width + 1;
        while enough - too_few > 1 {
            let middle = too_few.midpoint(enough);
            if self.lowest(middle) >= probability - ROUNDING {
                enough = middle;
            } else {
                too_few = middle;
            }
        }
        self.centre - signed(self.half_width) + signed(enough - 1)
    }
}

/// A row count as a signed number.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

/// The smallest whole number not below a non-negative number.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "20 times the square root of a number of rows fits"
)]
fn whole(number: f64) -> u64 {
    number.ceil() as u64
}
