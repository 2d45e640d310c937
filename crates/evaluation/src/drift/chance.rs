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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn p(count: u64, of: u64, other_count: u64, other_of: u64) -> f64 {
        let one = Proportion { count, of };
        let other = Proportion {
            count: other_count,
            of: other_of,
        };
        exact_p(one, other)
    }

    #[test]
    fn p_is_twice_the_tail_of_the_hypergeometric_distribution() {
        // the tea tasting: all four cups right has a chance of 1 in 70
        assert!((p(4, 4, 0, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((p(3, 4, 1, 4) - 2.0 * 17.0 / 70.0).abs() < 1e-12);
        assert!((p(0, 4, 4, 4) - 2.0 / 70.0).abs() < 1e-12);
        assert!((p(5, 10, 5, 10) - 1.0).abs() < f64::EPSILON);
        assert!((p(0, 0, 5, 10) - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn millions_of_rows_are_compared_like_the_normal_distribution_does() {
        // 3.09 standard errors: 0.001 on each side
        let rows = 2_000_000;
        let moved = 1_545;
        let p = p(rows / 2 + moved, rows, rows / 2 - moved, rows);
        assert!((0.001_9..0.002_1).contains(&p), "{p}");
    }

    proptest! {
        #[test]
        fn both_directions_and_both_sides_are_alike(
            one in 0_u64..200, other in 0_u64..200, count in 0_u64..200, other_count in 0_u64..200,
        ) {
            let (count, other_count) = (count.min(one), other_count.min(other));
            let value = p(count, one, other_count, other);
            prop_assert!((0.0..=1.0).contains(&value));
            let swapped = p(other_count, other, count, one);
            prop_assert!((value - swapped).abs() < 1e-9);
            let others = p(one - count, one, other - other_count, other);
            prop_assert!((value - others).abs() < 1e-9);
        }

        #[test]
        fn a_small_p_is_rare_without_a_difference(rows in 1_u64..40, other in 1_u64..40, counting in 0_u64..80) {
            let counting = counting.min(rows + other);
            // the exact distribution of the count, given both sizes and their sum
            let chance = |count: u64| {
                (ln_binomial(rows, count) + ln_binomial(other, counting - count)
                    - ln_binomial(rows + other, counting)).exp()
            };
            for level in [0.2, 0.05, 0.01, 0.001] {
                let possible = counting.saturating_sub(other)..=counting.min(rows);
                let rejected: f64 = possible
                    .filter(|count| p(*count, rows, counting - count, other) <= level)
                    .map(chance)
                    .sum();
                prop_assert!(rejected <= level + 1e-9, "{rejected} {level}");
            }
        }
    }

    fn assert_near(one: f64, other: f64) {
        let scale = one.abs().max(other.abs()).max(1e-300);
        assert!((one - other).abs() <= 1e-10 * scale, "{one} {other}");
    }

    #[test]
    fn factorials_are_those_of_multiplication() {
        let mut factorial = 0.0;
        for number in 1..200_u32 {
            factorial += f64::from(number).ln();
            assert_near(ln_gamma(f64::from(number) + 1.0) + 1.0, factorial + 1.0);
        }
        assert_near(ln_gamma(0.5), PI.sqrt().ln());
        assert_near(ln_binomial(52, 5), 2_598_960_f64.ln());
    }

    #[test]
    fn tails_are_those_of_known_distributions() {
        // with two degrees of freedom the tail is an exponential, with four a sum of two
        for value in [0.1, 1.0, 3.0, 20.0, 200.0] {
            let half: f64 = value / 2.0;
            assert_near(chi_squared_tail(value, 2), (-half).exp());
            assert_near(chi_squared_tail(value, 4), (-half).exp() * (1.0 + half));
        }
        // the square of a standard normal variable
        assert_near(chi_squared_tail(1.959_963_984_540_054_f64.powi(2), 1), 0.05);
        assert_near(chi_squared_tail(0.0, 3), 1.0);
        assert_near(chi_squared_tail(5.0, 0), 1.0);
    }

    proptest! {
        #[test]
        fn a_quantile_has_its_tail(tail in 1e-9_f64..0.999, degrees in 1_u64..300) {
            let value = chi_squared_quantile(tail, degrees);
            prop_assert!((chi_squared_tail(value, degrees) - tail).abs() < 1e-9 * tail.max(1e-3));
        }
    }
}
