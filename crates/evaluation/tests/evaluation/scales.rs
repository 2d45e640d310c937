//! The distance between the answered and the marked levels of a scale.

use refract_domain::answer::Answer;
use refract_evaluation::marked::MarkedAnswer;

use crate::material::{
    assert_close, choice, choice_question, key, marked, scale, scale_question, yes_no_answers,
};

const LEVELS: [&str; 4] = ["l1", "l2", "l3", "l4"];

fn level(level: &str) -> Answer {
    scale(&LEVELS.map(|key| (key, if key == level { 1.0 } else { 0.0 })))
}

#[test]
fn distances_are_counted_in_levels() {
    let rows = [
        (level("l1"), "l1"),
        (level("l2"), "l1"),
        (level("l4"), "l1"),
        (level("l4"), "l2"),
    ];
    let measures = marked(&scale_question(&LEVELS), &rows).measures();
    let scale = measures.scale.unwrap();
    assert_close(scale.mean_absolute_error, 6.0 / 4.0);
    assert_close(scale.within_one, 0.5);
    // observed squares 0 + 1 + 9 + 4; by chance 3 marks of l1 and one of l2 against each answer
    let by_chance = (3.0 * 19.0 + 9.0) / 4.0;
    assert_close(scale.quadratic_kappa, 1.0 - 14.0 / by_chance);
}

#[test]
fn kappa_is_1_for_agreement_and_not_defined_for_one_level() {
    let question = scale_question(&LEVELS);
    let rows = [(level("l1"), "l1"), (level("l3"), "l3")];
    let agreed = marked(&question, &rows).measures();
    assert_close(agreed.scale.unwrap().quadratic_kappa, 1.0);
    let alike = marked(&question, &[(level("l2"), "l2")]).measures();
    let alike = alike.scale.unwrap();
    assert_eq!(alike.quadratic_kappa, None);
    assert_close(alike.mean_absolute_error, 0.0);
}

#[test]
fn a_level_counts_by_its_place_in_the_version_that_answered() {
    let latest = scale_question(&LEVELS);
    let older = scale_question(&["l4", "l1"]);
    let mut answers = marked(&latest, &[]);
    let answer = scale(&[("l4", 0.0), ("l1", 1.0)]);
    let mark = key("l4");
    let row = MarkedAnswer {
        question: &older,
        answer: &answer,
        mark: &mark,
        model: None,
    };
    answers.add(&row).unwrap();
    let scale = answers.measures().scale.unwrap();
    assert_close(scale.mean_absolute_error, 1.0);
}

#[test]
fn other_types_have_no_measures_of_levels() {
    let topic = marked(
        &choice_question(&["a", "b"]),
        &[(choice(Some("a"), &[("a", 1.0)]), "a")],
    );
    assert_eq!(topic.measures().scale, None);
    assert_eq!(yes_no_answers(&[(0.5, true)]).measures().scale, None);
    let empty = marked(&scale_question(&LEVELS), &[]).measures();
    assert_eq!(empty.scale.unwrap().mean_absolute_error, None);
}
