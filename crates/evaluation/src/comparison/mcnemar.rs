//! McNemar's exact test.

use crate::measures::count::to_f64;

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
pub(crate) fn exact_p(one: u64, other: u64) -> f64 {
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
