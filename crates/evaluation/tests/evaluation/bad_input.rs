//! Marks and answers that do not fit the question are refused with one sentence, and not counted.

use refract_domain::answer::Answer;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers, NotComparable};

use crate::material::{
    choice, choice_question, key, marked, scale, scale_question, yes_no, yes_no_question,
};

fn refused(question: &Question, answer: &Answer, mark: &str) -> String {
    let mut answers = MarkedAnswers::new(question.question_type(), Cutoffs::default());
    let mark = key(mark);
    let error = answers.add(&MarkedAnswer {
        question,
        answer,
        mark: &mark,
        model: None,
    });
    assert!(answers.is_empty());
    error.unwrap_err().to_string()
}

#[test]
fn a_mark_that_the_version_lacks_is_named() {
    let topic = choice_question(&["a", "b"]);
    let answer = choice(Some("a"), &[("a", 1.0)]);
    let expected = "the version that answered has no outcome `c` of question `topic`";
    assert_eq!(refused(&topic, &answer, "c"), expected);
    let expected = "the version that answered has no outcome `unsure` of question `angry`";
    assert_eq!(
        refused(&yes_no_question(), &yes_no(0.5), "unsure"),
        expected
    );
    let urgency = scale_question(&["low", "high"]);
    let answer = scale(&[("low", 1.0), ("high", 0.0)]);
    let expected = "the version that answered has no outcome `other` of question `urgency`";
    assert_eq!(refused(&urgency, &answer, "other"), expected);
}

#[test]
fn an_answer_that_the_version_lacks_is_named() {
    let topic = choice_question(&["a", "b"]);
    let answer = choice(Some("z"), &[("z", 1.0)]);
    let expected = "the stored answer `z` is no outcome of question `topic`";
    assert_eq!(refused(&topic, &answer, "a"), expected);
    let urgency = scale_question(&["low", "high"]);
    let expected = "the stored answer `top` is no outcome of question `urgency`";
    assert_eq!(refused(&urgency, &scale(&[("top", 1.0)]), "low"), expected);
}

#[test]
fn an_answer_or_a_question_of_another_type_is_refused() {
    let topic = choice_question(&["a", "b"]);
    let expected = "a yes_no answer cannot be measured as choice";
    assert_eq!(refused(&topic, &yes_no(0.5), "a"), expected);
    let mut answers = marked(&yes_no_question(), &[]);
    let mark = key("a");
    let refused = NotComparable::Type {
        expected: "yes_no",
        found: "choice",
    };
    let added = answers.add(&MarkedAnswer {
        question: &topic,
        answer: &yes_no(0.5),
        mark: &mark,
        model: None,
    });
    assert_eq!(added.as_ref(), Err(&refused));
    assert_eq!(answers.expect_outcomes(&topic), Err(refused));
    assert_eq!(answers.measures().outcomes.len(), 2);
}

#[test]
fn more_outcomes_than_can_be_distinguished_are_refused_and_the_others_stay() {
    let question = |version: usize| {
        let options: Vec<String> = (0..253).map(|n| format!("o{version}_{n}")).collect();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        choice_question(&options)
    };
    let mut answers = MarkedAnswers::new(question(0).question_type(), Cutoffs::default());
    let refused = (0..260).find_map(|version| answers.expect_outcomes(&question(version)).err());
    assert_eq!(refused, Some(NotComparable::TooManyOutcomes));
    let known = answers.measures().outcomes;
    assert_eq!(known.len(), 65_536);
    assert_eq!(known[0].key, key("o0_0"));
}
