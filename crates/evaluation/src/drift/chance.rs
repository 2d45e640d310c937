//! How likely chance alone makes a difference: Fisher's exact test of two shares; and the gamma
//! function's logarithm with the upper tail of the chi-squared distribution.
//!
//! Sources: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions" (1964), 6.1.41 for
//! Stirling's series, 6.5.29 and 6.5.31 for the incomplete gamma function.

use std::f64::consts::PI;

use crate::measures::{Proportion, to_f64};

/// Terms that change a tail by less than this part are left out.
const NEGLIGIBLE_TERM: f64 = 1e-17;

/// The two-sided p-value: twice the probability that chance alone, given both numbers of rows and
/// the number of rows that count in both together, moves the first share at least as far in the
/// same direction; 1 at most, and without rows.
///
/// It is exact: with any numbers of rows a p-value of at most `a` occurs with a probability of at
/// most `a` if both shares are one.
///
/// Source: R. A. Fisher, "Statistical Methods for Research Workers", 5th edition (1934), 21.02.
pub(crate) fn exact_p(one: Proportion, other: Proportion) -> f64 {
    if one.of == 0 || other.of == 0 {
        return 1.0;
    }
    let is_more = to_f64(one.count) * to_f64(other.of) >= to_f64(other.count) * to_f64(one.of);
    // fewer that count are more that do not
    let (one, other) = if is_more {
        (one, other)
    } else {
        (one.others(), other.others())
    };
    let counting = one.count + other.count;
    let ln_first = ln_binomial(one.of, one.count) + ln_binomial(other.of, other.count)
        - ln_binomial(one.of + other.of, counting);
    let mut term = ln_first.exp();
    let mut tail = 0.0;
    for moved in 0..=other.count.min(one.of - one.count) {
        tail += term;
        if term < tail * NEGLIGIBLE_TERM {
            break;
        }
        let (more, fewer) = (one.count + moved, other.count - moved);
        let up = to_f64(one.of - more) * to_f64(fewer);
        let down = to_f64(more + 1) * to_f64(other.of - fewer + 1);
        term *= up / down;
    }
    (2.0 * tail).min(1.0)
}

/// From here on Stirling's series is exact to the precision of a double.
const SERIES_FROM: f64 = 12.0;
/// Terms that change the sum by less than this part end a series or a continued fraction.
const NEGLIGIBLE: f64 = 1e-16;
/// More terms than any argument of this crate needs.
const MOST_TERMS: u32 = 100_000;
/// Steps of the bisection that finds a quantile, each of which halves the error.
const HALVINGS: u32 = 100;

/// The natural logarithm of the gamma function of a positive number.
pub(crate) fn ln_gamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < SERIES_FROM {
        shift -= x.ln();
        x += 1.0;
    }
    let square = x * x;
    let series = (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square)
        / x;
    shift + (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series
}

/// The natural logarithm of the number of ways to choose `some` of `all`.
pub(crate) fn ln_binomial(all: u64, some: u64) -> f64 {
    let ln_factorial = |count| ln_gamma(to_f64(count) + 1.0);
    ln_factorial(all) - ln_factorial(some) - ln_factorial(all - some)
}

/// The probability that a chi-squared variable with this many degrees of freedom is at least
/// `value`; 1 without degrees of freedom.
pub(crate) fn chi_squared_tail(value: f64, degrees: u64) -> f64 {
    if degrees == 0 || value <= 0.0 {
        return 1.0;
    }
    let (a, x) = (to_f64(degrees) / 2.0, value / 2.0);
    let scale = (a * x.ln() - x - ln_gamma(a)).exp();
    if x < a + 1.0 {
        1.0 - scale * lower_series(a, x)
    } else {
        scale * upper_fraction(a, x)
    }
}

/// The value that a chi-squared variable with this many degrees of freedom reaches with a
/// probability of `tail`; 0 without degrees of freedom.
pub(crate) fn chi_squared_quantile(tail: f64, degrees: u64) -> f64 {
    if degrees == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 10.0 + 10.0 * to_f64(degrees));
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if chi_squared_tail(middle, degrees) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The series of the lower incomplete gamma function, for `x` below `a + 1`.
fn lower_series(a: f64, x: f64) -> f64 {
    let mut term = 1.0 / a;
    let mut sum = term;
    let mut n = a;
    for _ in 0..MOST_TERMS {
        n += 1.0;
        term *= x / n;
        sum += term;
        if term < sum * NEGLIGIBLE {
            break;
        }
    }
    sum
}

/// The continued fraction of the upper incomplete gamma function, for `x` from `a + 1` on, by
/// Lentz's method.
fn upper_fraction(a: f64, x: f64) -> f64 {
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let mut base = x + 1.0 - a;
    let mut c = 1.0 / tiny;
    let mut d = 1.0 / base;
    let mut fraction = d;
    for number in 1..MOST_TERMS {
        let number = f64::from(number);
        let numerator = -number * (number - a);
        base += 2.0;
        d = 1.0 / (numerator * d + base);
        c = base + numerator / c;
        let factor = c * d;
        fraction *= factor;
        if (factor - 1.0).abs() < NEGLIGIBLE * 10.0 {
            break;
        }
    }
    fraction
}

#[cfg(test)]
mod tests;
