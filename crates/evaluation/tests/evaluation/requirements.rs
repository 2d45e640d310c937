//! Requirements such as `topic.accuracy>=0.9`.

use refract_evaluation::flips::AnswerSensitivity;
use refract_evaluation::measures::QuestionMeasures;
use refract_evaluation::requirement::{CheckedRequirement, Requirement};

use crate::material::{
    choice, choice_question, is_close, marked, scale, scale_question, yes_no, yes_no_answers,
};

/// Four answers to a choice, three of them right.
fn topic() -> QuestionMeasures {
    let answer = |value| choice(Some(value), &[("a", 0.8), ("b", 0.2)]);
    let rows = [
        (answer("a"), "a"),
        (answer("a"), "a"),
        (answer("a"), "b"),
        (answer("b"), "b"),
        (choice(None, &[("a", 1.0)]), "a"),
    ];
    marked(&choice_question(&["a", "b", "c"]), &rows).measures()
}

fn check(requirement: &str, measures: &QuestionMeasures) -> CheckedRequirement {
    let requirement = Requirement::parse(requirement).unwrap();
    requirement.check(measures).unwrap()
}

fn value(measure: &str, measures: &QuestionMeasures) -> f64 {
    let checked = check(&format!("topic.{measure}>=0"), measures);
    checked.value.unwrap()
}

fn refused(requirement: &str) -> String {
    Requirement::parse(requirement).unwrap_err().to_string()
}

#[test]
fn every_measure_of_a_question_can_be_required() {
    let measures = topic();
    let interval = measures.accuracy.interval().unwrap();
    for (name, expected) in [
        ("accuracy", Some(0.75)),
        ("accuracy_low", Some(interval.low)),
        ("accuracy_high", Some(interval.high)),
        ("auc", Some(2.0 / 3.0)),
        ("answered", Some(0.8)),
        ("macro_f1", measures.macro_average.f1),
        ("macro_precision", measures.macro_average.precision),
        ("macro_recall", measures.macro_average.recall),
        ("brier", measures.brier),
        ("log_loss", measures.log_loss),
        ("ece", measures.ece),
        ("coverage_area", measures.coverage.area),
        ("a.recall", Some(1.0)),
        ("a.precision", Some(2.0 / 3.0)),
        ("b.f1", Some(2.0 / 3.0)),
    ] {
        let found = value(name, &measures);
        assert!(is_close(found, expected.unwrap()), "{name}: {found}");
    }
}

#[test]
fn every_measure_of_a_scale_can_be_required() {
    let question = scale_question(&["low", "middle", "high"]);
    let low = || scale(&[("low", 0.9), ("middle", 0.1), ("high", 0.0)]);
    let rows = [(low(), "low"), (low(), "high"), (low(), "middle")];
    let measures = marked(&question, &rows).measures();
    assert!(is_close(value("mean_absolute_error", &measures), 1.0));
    assert!(is_close(value("within_one", &measures), 2.0 / 3.0));
    assert!(is_close(value("quadratic_kappa", &measures), 0.0));
}

#[test]
fn a_bound_holds_as_its_operator_requires() {
    let measures = topic();
    for (bound, holds) in [
        (">=0.75", true),
        ("<=0.75", true),
        (">0.75", false),
        ("<0.75", false),
        (">0.7", true),
        ("<0.8", true),
        (">=0.76", false),
        ("<=0.74", false),
    ] {
        let checked = check(&format!("topic.accuracy{bound}"), &measures);
        assert_eq!(checked.holds, holds, "{bound}");
        assert_eq!(checked.value, Some(0.75));
    }
}

#[test]
fn a_value_that_is_not_defined_does_not_hold() {
    let checked = check("topic.c.precision>=0", &topic());
    assert_eq!((checked.value, checked.holds), (None, false));
    let nothing = yes_no_answers(&[]).measures();
    assert!(!check("angry.brier<=1", &nothing).holds);
}

#[test]
fn spaces_do_not_count_and_a_requirement_is_written_without_them() {
    for (written, read) in [
        (" topic.accuracy >= 0.90 ", "topic.accuracy>=0.9"),
        ("topic.billing.f1<1e-3", "topic.billing.f1<0.001"),
        ("topic.ece\t<=\t.05", "topic.ece<=0.05"),
        ("topic.brier>-1", "topic.brier>-1"),
    ] {
        let requirement = Requirement::parse(written).unwrap();
        assert_eq!(requirement.to_string(), read);
        assert_eq!(Requirement::parse(read).as_ref(), Ok(&requirement));
        assert_eq!(requirement.question().as_str(), "topic");
    }
}

#[test]
fn what_cannot_be_read_is_named_with_what_there_is() {
    for (requirement, error) in [
        (
            "topic.accuracy",
            "`topic.accuracy` has no operator: write >=, >, <= or <, as in topic.accuracy>=0.9",
        ),
        (
            "topic>=0.9",
            "`topic` names no measure of a question: write question.measure, as in topic.accuracy, \
             or question.outcome.measure, as in topic.billing.recall",
        ),
        (
            "a.b.f1.d>=0.9",
            "`a.b.f1.d` names no measure of a question: write question.measure, as in \
             topic.accuracy, or question.outcome.measure, as in topic.billing.recall",
        ),
        (
            "Topic.accuracy>=0.9",
            "`Topic` is no key of a question or outcome",
        ),
        (
            "topic.Billing.f1>=0.9",
            "`Billing` is no key of a question or outcome",
        ),
        (
            "topic.acuracy>=0.9",
            "`acuracy` is no measure of a question; there are accuracy, accuracy_low, \
             accuracy_high, auc, answered, macro_f1, macro_precision, macro_recall, brier, \
             log_loss, ece, coverage_area, mean_absolute_error, within_one, quadratic_kappa",
        ),
        (
            "topic.billing.accuracy>=0.9",
            "`accuracy` is no measure of an outcome; there are precision, recall, f1, and under \
             perturbations flip_rate, flip_rate_low, flip_rate_high, movement, largest_movement",
        ),
        (
            "topic.attack.flip_rate<=0.1",
            "`attack` is no perturbation; there are coherence, attacks, negated, \
             options-reversed, levels-reversed, copied-option, blank, shouted, claimed-answer, \
             template-tokens, fake-system",
        ),
        (
            "topic.accuracy>=much",
            "`much` is no number to compare with: write one such as 0.9",
        ),
        (
            "topic.accuracy>=NaN",
            "`NaN` is no number to compare with: write one such as 0.9",
        ),
        (
            "topic.accuracy==0.9",
            "`topic.accuracy==0.9` has no operator: write >=, >, <= or <, as in \
             topic.accuracy>=0.9",
        ),
    ] {
        assert_eq!(refused(requirement), error);
    }
}

#[test]
fn what_the_question_lacks_is_an_error_and_no_failure() {
    let measures = topic();
    let error = |requirement: &str| {
        let requirement = Requirement::parse(requirement).unwrap();
        requirement.check(&measures).unwrap_err().to_string()
    };
    assert_eq!(
        error("topic.billing.recall>=0.9"),
        "question `topic` has no outcome `billing`; there are a, b, c, other, \
         insufficient_information"
    );
    for measure in ["mean_absolute_error", "within_one", "quadratic_kappa"] {
        assert_eq!(
            error(&format!("topic.{measure}<=1")),
            format!("`{measure}` is for scales, and question `topic` is none")
        );
    }
}

#[test]
fn measures_under_perturbations_can_be_required() {
    let mut sensitivity = AnswerSensitivity::default();
    for other in [0.9, 0.8, 0.4, 0.7] {
        sensitivity.add(&yes_no(0.9), &yes_no(other)).unwrap();
    }
    let measures = sensitivity.measures();
    let interval = measures.flip_rate.interval().unwrap();
    for (measure, expected) in [
        ("attacks.flip_rate", 0.25),
        ("coherence.flip_rate_low", interval.low),
        ("fake-system.flip_rate_high", interval.high),
        ("negated.movement", 0.2),
        ("options-reversed.largest_movement", 0.5),
    ] {
        let required = format!("angry.{measure}<=0.22");
        let requirement = Requirement::parse(&required).unwrap();
        assert_eq!(requirement.to_string(), required);
        let (perturbed_by, _) = measure.split_once('.').unwrap();
        assert_eq!(requirement.perturbed_by().unwrap().name(), perturbed_by);
        let checked = requirement.check_robustness(&measures);
        assert!(
            is_close(checked.value.unwrap(), expected),
            "{measure}: {checked:?}"
        );
        assert_eq!(checked.holds, expected <= 0.22);
        // a measure of correctness says nothing about it
        let unmeasured = requirement.check(&yes_no_answers(&[]).measures()).unwrap();
        assert_eq!((unmeasured.value, unmeasured.holds), (None, false));
    }
    let accuracy = Requirement::parse("angry.accuracy>=0").unwrap();
    assert_eq!(accuracy.perturbed_by(), None);
    assert_eq!(accuracy.check_robustness(&measures).value, None);
    let none = AnswerSensitivity::default().measures();
    let required = Requirement::parse("angry.attacks.flip_rate<=1").unwrap();
    assert!(!required.check_robustness(&none).holds, "nothing was asked");
}
