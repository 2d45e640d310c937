//! The share of rows that could be automated, by confidence.

use refract_evaluation::measures::coverage::CoveragePoint;

use crate::material::{assert_close, choice, choice_question, marked, yes_no_answers};

#[test]
fn a_point_stands_where_other_rows_are_covered_than_before() {
    let question = choice_question(&["a", "b"]);
    let answer = |probability| choice(Some("a"), &[("a", probability)]);
    let rows = [
        (answer(0.955), "a"),
        (answer(0.95), "a"),
        (answer(0.5), "b"),
        (choice(None, &[("a", 1.0)]), "a"),
    ];
    let measures = marked(&question, &rows).measures();
    let point = |confidence, coverage, accuracy| CoveragePoint {
        confidence,
        coverage,
        accuracy,
    };
    // 0.955 and 0.95 are covered up to 0.95, a whole percent; no row is covered above it
    let expected = [point(0.0, 0.75, 2.0 / 3.0), point(0.51, 0.5, 1.0)];
    assert_eq!(measures.coverage.points, expected);
}

#[test]
fn the_area_is_the_mean_accuracy_over_coverages() {
    let question = choice_question(&["a", "b"]);
    let answer = |probability| choice(Some("a"), &[("a", probability)]);
    let rows = [
        (answer(0.9), "a"),
        (answer(0.8), "b"),
        (answer(0.8), "a"),
        (answer(0.7), "b"),
    ];
    let measures = marked(&question, &rows).measures();
    // accuracy 1 of one row, 2/3 of three, 1/2 of four; flat below one row
    let of_first = 1.0;
    let to_third = 2.0 * f64::midpoint(1.0, 2.0 / 3.0);
    let to_fourth = f64::midpoint(2.0 / 3.0, 0.5);
    let area = (of_first + to_third + to_fourth) / 4.0;
    assert_close(measures.coverage.area, area);
}

#[test]
fn a_no_is_as_confident_as_yes_is_improbable() {
    let measures = yes_no_answers(&[(0.05, false), (0.6, true)]).measures();
    let confidences = measures
        .coverage
        .points
        .iter()
        .map(|point| point.confidence);
    assert_eq!(confidences.collect::<Vec<_>>(), [0.0, 0.61]);
    assert_close(measures.coverage.area, 1.0);
}
