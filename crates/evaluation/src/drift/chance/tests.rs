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
