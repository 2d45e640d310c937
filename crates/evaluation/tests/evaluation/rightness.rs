//! Accuracy, the confusion table, precision, recall and F1.

use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_evaluation::marked::predicted;
use refract_evaluation::measures::{OutcomeMeasures, Proportion, QuestionMeasures};

use crate::material::{
    assert_close, choice, choice_question, is_close, key, marked, marked_with, scale,
    scale_question, yes_no, yes_no_question,
};

fn outcome<'a>(measures: &'a QuestionMeasures, name: &str) -> &'a OutcomeMeasures {
    let mut outcomes = measures.outcomes.iter();
    outcomes.find(|outcome| outcome.key == key(name)).unwrap()
}

fn names(measures: &QuestionMeasures) -> Vec<&str> {
    let outcomes = measures.outcomes.iter();
    outcomes.map(|outcome| outcome.key.as_str()).collect()
}

#[test]
fn answers_without_a_value_count_as_marks_but_not_as_answered() {
    let question = choice_question(&["a", "b"]);
    let answers = marked(
        &question,
        &[
            (choice(Some("a"), &[("a", 1.0)]), "a"),
            (choice(Some("a"), &[("a", 1.0)]), "b"),
            (choice(None, &[("a", 1.0)]), "a"),
        ],
    );
    assert_eq!((answers.len(), answers.is_empty()), (3, false));
    let measures = answers.measures();
    assert_eq!((measures.marks, measures.answered), (3, 2));
    assert_eq!(measures.accuracy, Proportion { count: 1, of: 2 });
}

#[test]
fn each_outcome_has_its_precision_recall_and_f1() {
    let question = choice_question(&["a", "b", "c", "d"]);
    let answer = |value: &str| choice(Some(value), &[(value, 1.0)]);
    let measures = marked(
        &question,
        &[
            (answer("a"), "a"),
            (answer("a"), "a"),
            (answer("a"), "b"),
            (answer("b"), "b"),
            (answer("b"), "other"),
            (answer("d"), "a"),
        ],
    )
    .measures();
    let all = ["a", "b", "c", "d", "other", "insufficient_information"];
    assert_eq!(names(&measures), all);

    let a = outcome(&measures, "a");
    assert_eq!((a.marked, a.predicted), (3, 3));
    assert_close(a.precision, 2.0 / 3.0);
    assert_close(a.recall, 2.0 / 3.0);
    assert_close(a.f1, 2.0 / 3.0);
    let other = outcome(&measures, "other");
    assert_eq!((other.marked, other.predicted), (1, 0));
    assert_eq!((other.precision, other.recall), (None, Some(0.0)));
    assert_eq!(other.f1, Some(0.0));
    let only_predicted = outcome(&measures, "d");
    assert_eq!((only_predicted.marked, only_predicted.predicted), (0, 1));
    assert_eq!(
        (only_predicted.precision, only_predicted.recall),
        (Some(0.0), None)
    );
    assert_eq!(only_predicted.f1, Some(0.0));
    let never = outcome(&measures, "c");
    assert_eq!(
        (never.precision, never.recall, never.f1),
        (None, None, None)
    );

    // over a, b, d and other
    let mean = (2.0 / 3.0 + 0.5) / 4.0;
    let macro_average = measures.macro_average;
    assert_close(macro_average.precision, mean);
    assert_close(macro_average.recall, mean);
    assert_close(macro_average.f1, mean);
}

#[test]
fn the_confusion_table_lists_filled_cells_in_the_order_of_the_outcomes() {
    let question = choice_question(&["z", "a"]);
    let answer = |value: &str| choice(Some(value), &[(value, 1.0)]);
    let measures = marked(
        &question,
        &[
            (answer("other"), "a"),
            (answer("a"), "z"),
            (answer("z"), "a"),
            (answer("a"), "z"),
        ],
    )
    .measures();
    let cells: Vec<(&OutcomeKey, &OutcomeKey, u64)> = measures
        .confusion
        .iter()
        .map(|cell| (&cell.marked, &cell.predicted, cell.count))
        .collect();
    let (a, z, other) = (key("a"), key("z"), key("other"));
    assert_eq!(cells, [(&z, &a, 2), (&a, &z, 1), (&a, &other, 1)]);
}

#[test]
fn outcomes_of_older_versions_come_after_those_of_the_latest() {
    let latest = choice_question(&["b", "c"]);
    let older = choice_question(&["gone", "b"]);
    let mut answers = marked(&latest, &[]);
    let answer = choice(Some("gone"), &[("gone", 1.0)]);
    let mark = key("gone");
    let row = refract_evaluation::marked::MarkedAnswer {
        question: &older,
        answer: &answer,
        mark: &mark,
        model: None,
    };
    answers.add(&row).unwrap();
    let measures = answers.measures();
    let expected = ["b", "c", "other", "insufficient_information", "gone"];
    assert_eq!(names(&measures), expected);
    assert_eq!(measures.accuracy.value(), Some(1.0));
}

#[test]
fn an_accuracy_has_wilsons_interval() {
    let interval = |count, of| Proportion { count, of }.interval();
    let of_95 = interval(95, 100).unwrap();
    assert!(is_close(of_95.low, 0.888_249_530_768_080_8), "{of_95:?}");
    assert!(is_close(of_95.high, 0.978_456_320_845_631_9), "{of_95:?}");
    let none = interval(0, 3).unwrap();
    assert!(none.low.abs() < f64::EPSILON && none.high > 0.5, "{none:?}");
    assert_eq!(interval(0, 0), None);
}

#[test]
fn without_answers_nothing_is_defined() {
    let measures = marked(&choice_question(&["a", "b"]), &[]).measures();
    assert_eq!((measures.marks, measures.accuracy.value()), (0, None));
    assert_eq!(
        (measures.brier, measures.log_loss, measures.ece),
        (None, None, None)
    );
    assert_eq!(measures.macro_average.f1, None);
    assert_eq!(measures.coverage.area, None);
    assert!(measures.confusion.is_empty() && measures.reliability.is_empty());
    assert!(measures.coverage.points.is_empty());
}

#[test]
fn an_answer_predicts_its_value_its_level_or_what_the_cutoffs_say() {
    let cutoffs = Cutoffs::new(Some(0.4), Some(0.6)).unwrap();
    let topic = choice_question(&["a", "b"]);
    let urgency = scale_question(&["low", "high"]);
    let angry = yes_no_question();
    for (question, answer, expected) in [
        (&topic, choice(Some("b"), &[("a", 1.0)]), Some("b")),
        (&topic, choice(None, &[("a", 1.0)]), None),
        (
            &urgency,
            scale(&[("low", 0.3), ("high", 0.7)]),
            Some("high"),
        ),
        (&angry, yes_no(0.6), Some("yes")),
        (&angry, yes_no(0.599_999), None),
        (&angry, yes_no(0.399_999), Some("no")),
        (&topic, yes_no(0.9), None),
    ] {
        assert_eq!(
            predicted(question, &answer, cutoffs),
            expected.map(key),
            "{answer:?}"
        );
    }
}

#[test]
fn an_unsure_yes_no_is_not_answered() {
    let cutoffs = Cutoffs::new(Some(0.4), Some(0.6)).unwrap();
    let rows = [
        (yes_no(0.9), "yes"),
        (yes_no(0.5), "yes"),
        (yes_no(0.1), "yes"),
    ];
    let measures = marked_with(&yes_no_question(), cutoffs, &rows).measures();
    assert_eq!((measures.marks, measures.answered), (3, 2));
    assert_eq!(names(&measures), ["yes", "no"]);
    let yes = outcome(&measures, "yes");
    assert_eq!((yes.marked, yes.predicted, yes.recall), (2, 1, Some(0.5)));
    let coverage = &measures.coverage;
    let first = coverage.points.first().unwrap();
    assert_close(Some(first.coverage), 2.0 / 3.0);
}
