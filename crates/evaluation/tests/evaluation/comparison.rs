//! Two sets of answers to the same texts.

use refract_evaluation::comparison::{Comparison, PairedAnswers};
use refract_evaluation::measures::Proportion;

use crate::material::{assert_close, is_close};

fn compared(both: u32, only_a: u32, only_b: u32, neither: u32) -> Comparison {
    let mut pairs = PairedAnswers::default();
    for (rows, a, b) in [
        (both, true, true),
        (only_a, true, false),
        (only_b, false, true),
        (neither, false, false),
    ] {
        for _ in 0..rows {
            pairs.add(a, b);
        }
    }
    pairs.compare()
}

fn ends(comparison: &Comparison) -> (f64, f64) {
    let interval = comparison.interval.unwrap();
    (interval.low, interval.high)
}

#[test]
fn both_accuracies_are_over_all_pairs() {
    let comparison = compared(5, 2, 10, 3);
    assert_eq!(comparison.rows, 20);
    assert_eq!(comparison.a, Proportion { count: 7, of: 20 });
    assert_eq!(comparison.b, Proportion { count: 15, of: 20 });
    assert_close(comparison.difference, 0.4);
    assert_eq!((comparison.only_a_right, comparison.only_b_right), (2, 10));
}

#[test]
fn mcnemars_test_is_the_exact_binomial_one() {
    let p = |only_a, only_b| compared(3, only_a, only_b, 4).mcnemar_p;
    // twice the probability of at most 2 of 12
    assert_close(Some(p(2, 10)), 158.0 / 4096.0);
    assert_close(Some(p(10, 2)), 158.0 / 4096.0);
    assert_close(Some(p(0, 1)), 1.0);
    assert_close(Some(p(6, 6)), 1.0);
    assert_close(Some(p(6, 7)), 1.0);
    assert_close(Some(p(0, 0)), 1.0);
    assert_close(Some(p(0, 10)), 2.0 / 1024.0);
}

#[test]
fn a_test_of_very_many_rows_neither_overflows_nor_vanishes() {
    let none_of_many = compared(0, 0, 5_000, 0).mcnemar_p;
    assert!(none_of_many.abs() < f64::EPSILON, "{none_of_many}");
    // two standard deviations: the normal distribution gives 0.0455 without a continuity correction
    let uneven = compared(0, 499_000, 501_000, 0).mcnemar_p;
    assert!((0.045..0.046).contains(&uneven), "{uneven}");
}

#[test]
fn the_interval_is_what_infinitely_many_draws_would_give() {
    // two rows, one of them up: a draw of two sums to 0, 1 or 2 with 1/4, 1/2, 1/4
    assert_eq!(ends(&compared(1, 0, 1, 0)), (0.0, 1.0));
    // 0 of 40 draws is up with 0.975^40 = 0.363, more than 3 with 0.0174, more than 2 with 0.0783
    let (low, high) = ends(&compared(39, 0, 1, 0));
    assert!(
        is_close(low, 0.0) && is_close(high, 3.0 / 40.0),
        "{low} {high}"
    );
    let (low, high) = ends(&compared(39, 1, 0, 0));
    assert!(
        is_close(low, -3.0 / 40.0) && is_close(high, 0.0),
        "{low} {high}"
    );
    // nothing can differ
    assert_eq!(ends(&compared(7, 0, 0, 2)), (0.0, 0.0));
    assert_eq!(ends(&compared(0, 0, 9, 0)), (1.0, 1.0));
    assert_eq!(ends(&compared(0, 9, 0, 0)), (-1.0, -1.0));
}

#[test]
fn the_interval_of_many_rows_is_that_of_the_normal_distribution() {
    let comparison = compared(500_000, 100_000, 110_000, 90_000);
    let (low, high) = ends(&comparison);
    let rows: f64 = 800_000.0;
    let (up, down) = (110_000.0 / rows, 100_000.0 / rows);
    let deviation = ((up + down - (up - down) * (up - down)) / rows).sqrt();
    let half = 1.959_963_984_540_054 * deviation;
    let difference = comparison.difference.unwrap();
    assert!((low - (difference - half)).abs() < 2.0 / rows, "{low}");
    assert!((high - (difference + half)).abs() < 2.0 / rows, "{high}");
}

#[test]
fn without_pairs_there_is_no_difference() {
    let comparison = PairedAnswers::default().compare();
    assert_eq!((comparison.rows, comparison.difference), (0, None));
    assert_eq!(comparison.interval, None);
    assert_close(Some(comparison.mcnemar_p), 1.0);
}
