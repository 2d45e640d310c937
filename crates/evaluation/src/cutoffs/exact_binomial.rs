//! Exact binomial tails and the Clopper–Pearson bound. Nothing is approximated by a normal
//! distribution, which is too sure of itself where few answers are wrong.

use crate::measures::to_f64;

/// Bisections of the interval from 0 to 1: more would not change a double.
const BISECTIONS: u32 = 60;
/// A term this far below the sum no longer changes it.
const NEGLIGIBLE: f64 = 1e-18;

/// The probability that at most `wrong` of `of` independent answers are wrong, if each is wrong with
/// the probability `error`.
///
/// The binomial's terms are summed as multiples of the largest one, going outwards from it, and
/// divided by their total. This needs no factorial, and nothing overflows.
pub fn probability_of_at_most(wrong: u64, of: u64, error: f64) -> f64 {
    if wrong >= of || error <= 0.0 {
        return 1.0;
    }
    if error >= 1.0 {
        return 0.0;
    }
    if wrong == 0 {
        return (1.0 - error).powf(to_f64(of));
    }
    let odds = error / (1.0 - error);
    let largest = most_probable(of, error);
    let mut tail = if largest <= wrong { 1.0 } else { 0.0 };
    let mut all = 1.0;
    let mut term = 1.0;
    for count in (1..=largest).rev() {
        term *= to_f64(count) / (to_f64(of - count + 1) * odds);
        if term == 0.0 {
            break;
        }
        all += term;
        if count <= wrong.saturating_add(1) {
            tail += term;
        }
    }
    term = 1.0;
    for count in largest..of {
        term *= to_f64(of - count) / to_f64(count + 1) * odds;
        if term < NEGLIGIBLE * all {
            break;
        }
        all += term;
        if count < wrong {
            tail += term;
        }
    }
    (tail / all).min(1.0)
}

/// The upper Clopper–Pearson bound: the largest error under which at most `wrong` of `of` answers
/// are wrong with the probability `level`. The true error is above the bound in at most this share
/// of samples. 1 if all are wrong, or there are none.
///
/// Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in
/// the case of the binomial", Biometrika 26 (1934).
pub fn upper_bound(wrong: u64, of: u64, level: f64) -> f64 {
    if wrong >= of {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..BISECTIONS {
        let middle = f64::midpoint(low, high);
        if probability_of_at_most(wrong, of, middle) > level {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

/// The fewest answers that show an error of at most `error` at this level if none of them is wrong.
pub fn fewest_without_wrong(error: f64, level: f64) -> u64 {
    let shows = |of: u64| probability_of_at_most(0, of, error) <= level;
    let mut most = 1;
    while !shows(most) && most < u64::MAX / 2 {
        most *= 2;
    }
    let mut least = most / 2;
    while most - least > 1 {
        let middle = u64::midpoint(least, most);
        if shows(middle) {
            most = middle;
        } else {
            least = middle;
        }
    }
    most
}

/// The most probable number of wrong answers: the largest one that is at least as probable as the
/// one before it.
fn most_probable(of: u64, error: f64) -> u64 {
    let rises_to = |count: u64| to_f64(of - count + 1) * error >= to_f64(count) * (1.0 - error);
    let (mut low, mut beyond) = (0, of + 1);
    while beyond - low > 1 {
        let middle = u64::midpoint(low, beyond);
        if rises_to(middle) {
            low = middle;
        } else {
            beyond = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tails_of_few_answers_are_those_counted_manually() {
        for (wrong, of, error, expected) in [
            (0, 2, 0.5, 0.25),
            (1, 2, 0.5, 0.75),
            (1, 3, 0.1, 0.9_f64.powi(3) + 3.0 * 0.1 * 0.81),
            (0, 59, 0.05, 0.95_f64.powi(59)),
            (2, 2, 0.9, 1.0),
            (0, 0, 0.9, 1.0),
            (0, 5, 0.0, 1.0),
            (4, 5, 1.0, 0.0),
        ] {
            let found = probability_of_at_most(wrong, of, error);
            assert!((found - expected).abs() < 1e-14, "{wrong} {of} {error}");
        }
    }

    #[test]
    fn the_rule_of_three_is_near_the_bound_without_wrong_answers() {
        for of in [30, 300, 3_000] {
            let bound = upper_bound(0, of, 0.05);
            let exact = 1.0 - 0.05_f64.powf(1.0 / to_f64(of));
            assert!((bound - exact).abs() < 1e-14, "{of}: {bound}");
        }
        assert!((upper_bound(3, 3, 0.05) - 1.0).abs() < 1e-15);
        assert!((upper_bound(0, 0, 0.05) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn the_fewest_answers_without_a_wrong_one() {
        assert_eq!(fewest_without_wrong(0.05, 0.05), 59);
        assert_eq!(fewest_without_wrong(0.01, 0.05), 299);
        assert_eq!(fewest_without_wrong(0.5, 0.5), 1);
    }

    proptest! {
        #[test]
        fn a_bound_is_where_the_tail_has_the_level(
            of in 1_u64..5_000,
            share in 0.0..1.0_f64,
            level in 0.001..0.5_f64,
        ) {
            let wrong = most_probable(of, share).min(of - 1);
            let bound = upper_bound(wrong, of, level);
            prop_assert!((probability_of_at_most(wrong, of, bound) - level).abs() < 1e-9);
        }

        #[test]
        fn a_tail_grows_with_the_wrong_and_falls_with_the_error(
            of in 1_u64..2_000,
            wrong in 0_u64..2_000,
            error in 0.001..0.998_f64,
        ) {
            let tail = probability_of_at_most(wrong, of, error);
            prop_assert!(tail <= probability_of_at_most(wrong + 1, of, error));
            prop_assert!(tail + 1e-12 >= probability_of_at_most(wrong, of, error + 0.001));
        }

        #[test]
        fn one_answer_fewer_does_not_show_the_error(
            error in 0.001..0.5_f64,
            level in 0.001..0.5_f64,
        ) {
            let fewest = fewest_without_wrong(error, level);
            prop_assert!(probability_of_at_most(0, fewest, error) <= level);
            prop_assert!(probability_of_at_most(0, fewest - 1, error) > level);
        }
    }
}
