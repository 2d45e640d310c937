//! The area under the ROC curve, and the accuracy of the most frequent mark.

use refract_domain::answer::Answer;
use refract_domain::lens::Cutoffs;
use refract_evaluation::marked::MarkedAnswer;
use refract_evaluation::measures::Proportion;

use crate::material::{
    assert_close, choice, choice_question, key, marked, marked_with, scale, scale_question, yes_no,
    yes_no_answers, yes_no_question,
};

#[test]
fn the_area_is_the_share_of_pairs_in_order_and_ties_count_half() {
    let rows = [(0.1, false), (0.4, true), (0.4, false), (0.9, true)];
    // 0.4 is above 0.1 and ties with 0.4; 0.9 is above both
    assert_close(yes_no_answers(&rows).measures().auc, 3.5 / 4.0);
    let backwards = [(0.9, false), (0.1, true)];
    assert_close(yes_no_answers(&backwards).measures().auc, 0.0);
    let all_tied = [(0.3, false), (0.3, true), (0.3, false)];
    assert_close(yes_no_answers(&all_tied).measures().auc, 0.5);
}

#[test]
fn one_mark_everywhere_has_no_area() {
    let rows = [(0.1, true), (0.4, true)];
    assert_eq!(yes_no_answers(&rows).measures().auc, None);
    assert_eq!(yes_no_answers(&[]).measures().auc, None);
    let question = choice_question(&["a", "b"]);
    let answer = || choice(Some("a"), &[("a", 0.9), ("b", 0.1)]);
    let rows = [(answer(), "a"), (answer(), "a")];
    assert_eq!(marked(&question, &rows).measures().auc, None);
}

#[test]
fn a_choice_has_the_mean_over_the_outcomes_that_are_marked() {
    let question = choice_question(&["a", "b", "c"]);
    let answer = |a, b, c| choice(Some("a"), &[("a", a), ("b", b), ("c", c)]);
    let rows = [
        (answer(0.7, 0.2, 0.1), "a"),
        (answer(0.6, 0.3, 0.1), "b"),
        (answer(0.2, 0.5, 0.3), "b"),
        (answer(0.6, 0.1, 0.3), "a"),
    ];
    // a: 0.7 is above both others, 0.6 above one and ties with one; b: 0.3 and 0.5 are above both
    let measures = marked(&question, &rows).measures();
    assert_close(measures.auc, f64::midpoint(3.5 / 4.0, 1.0));
}

#[test]
fn a_row_that_is_not_answered_is_ranked_all_the_same() {
    let question = choice_question(&["a", "b"]);
    let rows = [
        (choice(None, &[("a", 0.6), ("b", 0.4)]), "a"),
        (choice(None, &[("a", 0.1), ("b", 0.9)]), "b"),
    ];
    let measures = marked(&question, &rows).measures();
    assert_eq!((measures.answered, measures.auc), (0, Some(1.0)));
    let cutoffs = Cutoffs::new(Some(0.1), Some(0.9)).unwrap();
    let rows = [(yes_no(0.3), "no"), (yes_no(0.6), "yes")];
    let measures = marked_with(&yes_no_question(), cutoffs, &rows).measures();
    assert_eq!((measures.answered, measures.auc), (0, Some(1.0)));
}

#[test]
fn a_scale_is_ranked_level_by_level() {
    let question = scale_question(&["low", "middle", "high"]);
    let answer = |low, middle, high| scale(&[("low", low), ("middle", middle), ("high", high)]);
    let rows = [
        (answer(0.8, 0.1, 0.1), "low"),
        (answer(0.1, 0.8, 0.1), "high"),
        (answer(0.1, 0.2, 0.7), "middle"),
    ];
    // low 1; middle: 0.2 is above 0.1 and below 0.8; high: 0.1 ties with 0.1 and is below 0.7
    let areas = [1.0, 0.5, 0.25];
    let mean = areas.iter().sum::<f64>() / 3.0;
    assert_close(marked(&question, &rows).measures().auc, mean);
}

#[test]
fn an_outcome_that_a_version_lacks_has_probability_0_there() {
    let latest = choice_question(&["a", "b"]);
    let older = choice_question(&["gone", "a"]);
    let mut answers = marked(&latest, &[]);
    let mut add = |question, answer: Answer, mark: &str| {
        let mark = key(mark);
        let row = MarkedAnswer {
            question,
            answer: &answer,
            mark: &mark,
            model: None,
        };
        answers.add(&row).unwrap();
    };
    // the outcome has probabilities before it is marked for the first time, in another order
    add(&older, choice(Some("a"), &[("gone", 0.4), ("a", 0.6)]), "a");
    add(&latest, choice(Some("a"), &[("a", 0.5), ("b", 0.5)]), "b");
    add(
        &older,
        choice(Some("gone"), &[("gone", 0.7), ("a", 0.3)]),
        "gone",
    );
    // a: 0.6 is above 0.5 and 0.3; b: 0.5 is above 0 and 0; gone: 0.7 is above 0.4 and 0
    assert_close(answers.measures().auc, 1.0);
}

#[test]
fn the_majority_is_that_of_the_answered_rows() {
    let question = choice_question(&["a", "b"]);
    let answer = |value: Option<&str>| choice(value, &[("a", 0.6), ("b", 0.4)]);
    let rows = [
        (answer(Some("a")), "b"),
        (answer(Some("a")), "b"),
        (answer(Some("b")), "a"),
        (answer(None), "a"),
        (answer(None), "a"),
    ];
    let measures = marked(&question, &rows).measures();
    assert_eq!(measures.majority, Proportion { count: 2, of: 3 });
    assert_eq!(measures.accuracy, Proportion { count: 0, of: 3 });
    let nothing = marked(&question, &[]).measures();
    assert_eq!(nothing.majority.value(), None);
}
