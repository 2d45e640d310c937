//! The percentile interval of the paired bootstrap, computed instead of drawn.
//!
//! A bootstrap draws as many rows as there are, with replacement, many times, and takes the 2.5 %
//! and the 97.5 % quantile of the draws' results. For a difference of two accuracies there are only
//! three kinds of rows: only the second answer is correct (+1), only the first is (-1), and the
//! others (0). So a draw's sum is a sum of independent steps with a known distribution: the limit
//! for infinitely many draws, and the same in every run.
//!
//! The distribution is computed from its characteristic function by the discrete Fourier transform.
//!
//! Sources: B. Efron, R. J. Tibshirani, "An Introduction to the Bootstrap", Chapman & Hall 1993,
//! chapter 13; Y. Hong, "On computing the distribution function for the Poisson binomial
//! distribution", Computational Statistics & Data Analysis 59 (2013), for the transform.

use std::f64::consts::TAU;

use crate::measures::proportion::{Interval, to_f64};

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
