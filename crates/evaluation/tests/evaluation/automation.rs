//! The confidence above which answers can be automated.

use refract_evaluation::marked::MarkedAnswers;
use refract_evaluation::measures::Proportion;

use crate::material::{choice, choice_question, is_close, marked};

/// Answers to a choice with these probabilities, and whether each is correct.
fn answers(rows: &[(f64, bool)]) -> MarkedAnswers {
    let row = |&(probability, is_right): &(f64, bool)| {
        let answer = choice(Some("a"), &[("a", probability)]);
        (answer, if is_right { "a" } else { "b" })
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    marked(&choice_question(&["a", "b"]), &rows)
}

/// Ten rows of 0.6, the first two of them wrong.
const UNSURE: [(f64, bool); 10] = {
    let mut rows = [(0.6, true); 10];
    rows[0].1 = false;
    rows[1].1 = false;
    rows
};

#[test]
fn an_accuracy_that_holds_only_where_it_was_chosen_is_not_promised() {
    let answers = answers(&UNSURE);
    assert_eq!(answers.measures().accuracy.value(), Some(0.8));
    // without the fold of a wrong row more of them are correct, in this fold fewer
    assert_eq!(answers.coverage_for(0.8), None);
}

#[test]
fn the_target_is_raised_until_the_wanted_accuracy_holds_on_held_out_rows() {
    let mut rows = UNSURE.to_vec();
    rows.extend([(0.9, true); 5]);
    let answers = answers(&rows);
    // 0.6 of four outcomes is a confidence of 0.466667: from there on 13 of 15 are correct, but
    // confidences chosen for 0.85 do worse on held-out rows
    let advice = answers.coverage_for(0.85).unwrap();
    assert!(is_close(advice.confidence, 0.47), "{advice:?}");
    assert_eq!(advice.all.accuracy, Proportion { count: 5, of: 5 });
    assert_eq!(advice.all.coverage, Proportion { count: 5, of: 15 });
    assert_eq!(advice.held_out.accuracy, Proportion { count: 7, of: 8 });
    assert_eq!(advice.held_out.coverage, Proportion { count: 8, of: 15 });
}

#[test]
fn a_wanted_accuracy_that_all_answers_have_needs_no_confidence() {
    let advice = answers(&[(0.4, true); 10]).coverage_for(1.0).unwrap();
    assert!(is_close(advice.confidence, 0.0), "{advice:?}");
    assert_eq!(advice.all.coverage, Proportion { count: 10, of: 10 });
}

#[test]
fn what_is_not_answered_is_never_covered() {
    let question = choice_question(&["a", "b"]);
    let mut rows = vec![(choice(None, &[("a", 1.0)]), "a"); 5];
    rows.extend(vec![(choice(Some("a"), &[("a", 0.3)]), "a"); 5]);
    let advice = marked(&question, &rows).coverage_for(0.9).unwrap();
    assert_eq!(advice.held_out.coverage, Proportion { count: 5, of: 10 });
}

#[test]
fn what_is_out_of_reach_or_no_accuracy_has_no_confidence() {
    let wrong = answers(&[(0.9, false); 20]);
    assert_eq!(wrong.coverage_for(0.01), None);
    let right = answers(&[(0.9, true); 20]);
    for no_accuracy in [-0.1, 1.1, f64::NAN] {
        assert_eq!(right.coverage_for(no_accuracy), None, "{no_accuracy}");
    }
    assert_eq!(answers(&[]).coverage_for(0.5), None);
}
