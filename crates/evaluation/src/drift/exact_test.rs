//! Fisher's exact test of two shares.

use crate::drift::gamma::ln_binomial;
use crate::measures::proportion::{Proportion, to_f64};

/// Terms that change a tail by less than this part are left out.
const NEGLIGIBLE: f64 = 1e-17;

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
        if term < tail * NEGLIGIBLE {
            break;
        }
        let (more, fewer) = (one.count + moved, other.count - moved);
        let up = to_f64(one.of - more) * to_f64(fewer);
        let down = to_f64(more + 1) * to_f64(other.of - fewer + 1);
        term *= up / down;
    }
    (2.0 * tail).min(1.0)
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
}
