//! Whatever tokens a server sends, what is read of them is a distribution or no answer.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use refract_domain::answer::Answer;
use refract_domain::question::Question;
use serde_json::json;

use super::answer::answer;
use super::codes::Shape;
use super::completion::{Position, Token};
use super::reading::{self, digits_after};

/// Bytes that codes and what stands around them are made of, and others.
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

/// What servers write for a probability, sums over 1 included.
fn token() -> impl Strategy<Value = Token> {
    let probability = prop_oneof![Just(0.0), Just(1.0), 0.0..=1.0];
    (bytes(), probability).prop_map(|(bytes, probability)| Token { bytes, probability })
}

fn positions() -> impl Strategy<Value = Vec<Position>> {
    let position = (token(), prop::collection::vec(token(), 0..21));
    let position = position.prop_map(|(written, others)| Position { written, others });
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
            let outcomes = question.outcomes().count().max(2);
            let shape = Shape::of(question);
            let reading = reading::read(shape, outcomes, &positions);
            let seen = reading.saw(outcomes);
            prop_assert!(seen.shown <= seen.outcomes, "{seen:?}");
            let (probabilities, is_named) = match answer(question, reading) {
                None | Some(Answer::YesNo { .. }) => continue,
                Some(Answer::Scale { probabilities, .. }) => (probabilities, true),
                Some(Answer::Choice {
                    probabilities,
                    value,
                    ..
                }) => (probabilities, value.is_some()),
            };
            let sum: u64 = probabilities.iter().map(|(_, share)| *share).sum();
            // where a code was written that the question lacks, it may be all that was seen
            prop_assert!(sum == 1_000_000 || (sum == 0 && !is_named), "{sum}");
            answered.set(answered.get() + 1);
        }
        if let Some(digits) = digits_after(0, 10, &positions) {
            prop_assert!(digits.shares.iter().all(|share| share.is_finite()));
        }
        Ok(())
    });
    outcome.unwrap();
    assert!(answered.get() > 1_000, "{answered:?}");
}
