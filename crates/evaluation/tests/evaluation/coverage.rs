//! The share of rows that could be automated, by confidence.

use refract_domain::answer::Answer;
use refract_domain::lens::Cutoffs;
use refract_evaluation::measures::CoveragePoint;

use crate::material::{
    assert_close, choice, choice_question, key, marked, marked_with, p, yes_no, yes_no_answers,
    yes_no_question,
};

#[test]
fn a_point_stands_where_other_rows_are_covered_than_before() {
    let question = choice_question(&["a", "b"]);
    let answer = |probability| choice(Some("a"), &[("a", probability)]);
    // of four outcomes: confidences of 0.954667, 0.95 and 0.333333
    let rows = [
        (answer(0.966), "a"),
        (answer(0.9625), "a"),
        (answer(0.5), "b"),
        (choice(None, &[("a", 1.0)]), "a"),
    ];
    let measures = marked(&question, &rows).measures();
    let point = |confidence, coverage, accuracy| CoveragePoint {
        confidence,
        coverage,
        accuracy,
    };
    // two rows are covered up to 0.95, a whole percent; no row is covered above it
    let expected = [point(0.0, 0.75, 2.0 / 3.0), point(0.34, 0.5, 1.0)];
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
    // 0.9 and 0.2
    assert_eq!(confidences.collect::<Vec<_>>(), [0.0, 0.21]);
    assert_close(measures.coverage.area, 1.0);
}

#[test]
fn a_yes_that_is_less_probable_than_no_has_no_confidence() {
    // yes from 0.1: 0.15 is yes, although no is more probable
    let cutoffs = Cutoffs::new(Some(0.1), None).unwrap();
    let rows = [(yes_no(0.15), "no"), (yes_no(0.8), "yes")];
    let measures = marked_with(&yes_no_question(), cutoffs, &rows).measures();
    let shares = measures.coverage.points.iter();
    let shares: Vec<_> = shares.map(|it| (it.confidence, it.coverage)).collect();
    assert_eq!(shares, [(0.0, 1.0), (0.01, 0.5)]);
}

#[test]
fn the_confidence_that_a_server_sends_changes_nothing() {
    let question = choice_question(&["a", "b"]);
    let rows = [(0.95, "a"), (0.9, "b"), (0.8, "a"), (0.7, "b"), (0.4, "a")];
    let measured = |confidence: &dyn Fn(f64) -> f64| {
        let row = |&(probability, mark): &(f64, &'static str)| {
            let rest = (1.0 - probability) / 3.0;
            let others =
                ["b", "other", "insufficient_information"].map(|name| (key(name), p(rest)));
            let answer = Answer::Choice {
                value: Some(key("a")),
                probabilities: [(key("a"), p(probability))]
                    .into_iter()
                    .chain(others)
                    .collect(),
                confidence: p(confidence(probability)),
            };
            (answer, mark)
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        let answers = marked(&question, &rows);
        (answers.measures(), answers.coverage_for(0.6))
    };
    let constant = measured(&|_| 0.9);
    assert_eq!(constant, measured(&|probability| probability));
    assert_eq!(constant, measured(&|probability| 1.0 - probability));
    let points = &constant.0.coverage.points;
    // from the guess of 0.25 on: 0.2, 0.6, 0.733333, 0.866667 and 0.933333
    let confidences = points.iter().map(|point| point.confidence);
    let expected = [0.0, 0.21, 0.61, 0.74, 0.87];
    assert_eq!(confidences.collect::<Vec<_>>(), expected);
}
