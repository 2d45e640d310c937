//! Questions, answers and marks to measure.

use refract_domain::answer::{Answer, Distribution, Probability};
use refract_domain::key::OutcomeKey;
use refract_domain::lens::Cutoffs;
use refract_domain::prism::Question;
use refract_evaluation::marked::{MarkedAnswer, MarkedAnswers};
use serde_json::json;

/// A choice with these options.
pub(crate) fn choice_question(options: &[&str]) -> Question {
    let options: Vec<_> = outcomes(options);
    let question = json!({"key": "topic", "type": "choice", "text": "?", "options": options});
    serde_json::from_value(question).unwrap()
}

/// A scale with these levels.
pub(crate) fn scale_question(levels: &[&str]) -> Question {
    let levels: Vec<_> = outcomes(levels);
    let question = json!({"key": "urgency", "type": "scale", "text": "?", "levels": levels});
    serde_json::from_value(question).unwrap()
}

/// A Yes / No question.
pub(crate) fn yes_no_question() -> Question {
    let question = json!({"key": "angry", "type": "yes_no", "text": "?"});
    serde_json::from_value(question).unwrap()
}

fn outcomes(keys: &[&str]) -> Vec<serde_json::Value> {
    let outcome = |key: &&str| json!({"key": key, "label": key});
    keys.iter().map(outcome).collect()
}

/// The key of an outcome.
pub(crate) fn key(key: &str) -> OutcomeKey {
    OutcomeKey::parse(key).unwrap()
}

/// A probability.
pub(crate) fn p(probability: f64) -> Probability {
    Probability::from_f64(probability).unwrap()
}

/// The answer to a choice, with or without a value.
pub(crate) fn choice(value: Option<&str>, probabilities: &[(&str, f64)]) -> Answer {
    Answer::Choice {
        value: value.map(key),
        probabilities: distribution(probabilities),
        confidence: Probability::ZERO,
    }
}

/// The answer to a scale.
pub(crate) fn scale(probabilities: &[(&str, f64)]) -> Answer {
    Answer::scale(distribution(probabilities)).unwrap()
}

/// The answer to a Yes / No question.
pub(crate) fn yes_no(probability: f64) -> Answer {
    Answer::YesNo {
        probability: p(probability),
    }
}

fn distribution(probabilities: &[(&str, f64)]) -> Distribution {
    let outcome = |&(name, probability): &(&str, f64)| (key(name), p(probability));
    probabilities.iter().map(outcome).collect()
}

/// Answers to one question, each with its mark.
pub(crate) fn marked(question: &Question, rows: &[(Answer, &str)]) -> MarkedAnswers {
    marked_with(question, Cutoffs::default(), rows)
}

/// Answers to one question, whose Yes / No is labelled by cutoffs.
pub(crate) fn marked_with(
    question: &Question,
    cutoffs: Cutoffs,
    rows: &[(Answer, &str)],
) -> MarkedAnswers {
    let mut answers = MarkedAnswers::new(question.question_type(), cutoffs);
    answers.expect_outcomes(question).unwrap();
    for (answer, mark) in rows {
        let mark = key(mark);
        answers
            .add(&MarkedAnswer {
                question,
                answer,
                mark: &mark,
                model: Some("m"),
            })
            .unwrap();
    }
    answers
}

/// Answers to a Yes / No question: probabilities of yes, and whether yes is marked.
pub(crate) fn yes_no_answers(rows: &[(f64, bool)]) -> MarkedAnswers {
    let row = |&(probability, is_yes): &(f64, bool)| {
        (yes_no(probability), if is_yes { "yes" } else { "no" })
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    marked(&yes_no_question(), &rows)
}

/// Whether two numbers differ by no more than rounding.
pub(crate) fn is_close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

/// Fails unless a number is present and as expected.
#[track_caller]
pub(crate) fn assert_close(number: Option<f64>, expected: f64) {
    let close = number.is_some_and(|number| is_close(number, expected));
    assert!(close, "{number:?} is not {expected}");
}
