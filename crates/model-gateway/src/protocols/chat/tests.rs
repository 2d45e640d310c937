//! Whatever tokens a server sends, they are read as a distribution or as no answer.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use refract_domain::answer::Answer;
use refract_domain::prism::Question;
use serde_json::json;

use super::completion::{AnswerToken, TokenPosition};
use super::prompt::CodeShape;
use super::reading::{self, answer, digits_after};

/// Bytes that occur in and around codes, and other bytes.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let pieces = prop::sample::select(vec![
        &b"A"[..],
        b"B",
        b"Z",
        b"0",
        b"9",
        b"yes",
        b"no",
        b"Y",
        b" ",
        b"\n",
        b"\"",
        b"<think>",
        b"</think>",
        b"<|",
        b"|>",
        b"'",
        b"\xe2\x96",
        b"\xff",
        b"_",
        b"A0",
        b"Z9",
        b"",
    ]);
    prop::collection::vec(pieces, 0..4).prop_map(|pieces| pieces.concat())
}

/// A token with a probability. The probabilities at one position may sum to more than 1.
fn token() -> impl Strategy<Value = AnswerToken> {
    let probability = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0];
    (bytes(), probability).prop_map(|(bytes, probability)| AnswerToken {
        bytes: bytes.into(),
        probability,
    })
}

fn positions() -> impl Strategy<Value = Vec<TokenPosition>> {
    let position = (
        token(),
        prop::collection::vec(token(), 0..21),
        any::<bool>(),
    );
    let position = position.prop_map(|(written, others, is_selection)| TokenPosition {
        written,
        others,
        is_selection,
        is_bare: false,
    });
    prop::collection::vec(position, 0..6)
}

/// A question of each shape.
fn questions() -> [Question; 4] {
    let options = |count| {
        let option = |number| json!({"key": format!("o{number}"), "label": "One"});
        (0..count).map(option).collect::<serde_json::Value>()
    };
    [
        json!({"key": "a", "type": "yes_no", "text": "?"}),
        json!({"key": "b", "type": "scale", "text": "?", "levels": options(3)}),
        json!({"key": "c", "type": "choice", "text": "?", "options": options(5)}),
        json!({"key": "d", "type": "choice", "text": "?", "options": options(40)}),
    ]
    .map(|json| serde_json::from_value(json).unwrap())
}

#[test]
fn any_tokens_are_a_distribution_or_no_answer() {
    let questions = questions();
    let config = Config {
        cases: 2_000,
        failure_persistence: None,
        ..Config::default()
    };
    let answered = Cell::new(0);
    let outcome = TestRunner::new(config).run(&positions(), |positions| {
        for question in &questions {
            let shape = CodeShape::of(question);
            let outcomes = shape.outcomes(question);
            let probabilities = reading::read(shape, outcomes, &positions, 0);
            let parsed = probabilities.parsed();
            prop_assert!(parsed.listed <= parsed.outcomes, "{parsed:?}");
            let (probabilities, is_named) = match answer(question, probabilities) {
                None | Some(Answer::YesNo { .. }) => continue,
                Some(Answer::Scale { probabilities, .. }) => (probabilities, true),
                Some(Answer::Choice {
                    probabilities,
                    value,
                    ..
                }) => (probabilities, value.is_some()),
            };
            let sum: u64 = probabilities.iter().map(|(_, share)| *share).sum();
            // each is rounded by itself
            let most_off = u64::try_from(probabilities.len()).unwrap() / 2;
            let is_one = sum.abs_diff(1_000_000) <= most_off;
            // the only code with a probability may be a written one that the question lacks
            prop_assert!(is_one || (sum == 0 && !is_named), "{sum}");
            answered.set(answered.get() + 1);
        }
        if let Some(found) = digits_after(0, 10, &positions) {
            let digits = found.digits;
            prop_assert!(digits.probabilities.iter().all(|share| share.is_finite()));
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(answered.get() > 1_000, "{answered:?}");
}
