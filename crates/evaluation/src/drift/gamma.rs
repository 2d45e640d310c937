//! The gamma function's logarithm and the upper tail of the chi-squared distribution.
//!
//! Sources: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions" (1964), 6.1.41 for
//! Stirling's series, 6.5.29 and 6.5.31 for the incomplete gamma function.

use std::f64::consts::PI;

use crate::measures::proportion::to_f64;

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
