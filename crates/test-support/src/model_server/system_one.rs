//! System One answers that depend on the questions alone.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::http::ReceivedRequest;

/// The millionths that all outcomes but the first share.
const OTHERS: u32 = 300_000;

/// The body of an answer to a request.
pub fn reply(request: &ReceivedRequest) -> Value {
    let body = request.text();
    let questions = value_of(&body, "questions")
        .map(|raw| entries(raw.get()))
        .unwrap_or_default();
    let tokens = json!({"input_tokens": body.len() / 4, "output_tokens": questions.len() * 10});
    let answers = questions
        .into_iter()
        .map(|(key, question)| (key, answer(question.get())));
    json!({"model": "scripted-1", "answers": answers.collect::<Map<_, _>>(), "usage": tokens})
}

fn answer(question: &str) -> Value {
    let criteria = value_of(question, "criteria").map_or("null", RawValue::get);
    match value_of(question, "type").map(RawValue::get) {
        Some(r#""choice""#) => {
            let names: Vec<String> = entries(criteria).into_keys().collect();
            let first = names.first().cloned();
            let probabilities = shares(names);
            json!({"type": "choice", "choice": first, "confidence": 0.6, "probabilities": probabilities})
        }
        Some(r#""score""#) => {
            let levels: Vec<Value> = serde_json::from_str(criteria).unwrap_or_default();
            let probabilities = shares((0..levels.len()).map(|level| level.to_string()).collect());
            json!({"type": "score", "score": 0, "confidence": 0.6, "probabilities": probabilities})
        }
        Some(_) | None => json!({"type": "noul", "noul": 0.8}),
    }
}

/// Probabilities that sum to 1: the first name has most, and the others have equal shares.
fn shares(names: Vec<String>) -> Map<String, Value> {
    let others = u32::try_from(names.len())
        .unwrap_or(u32::MAX)
        .saturating_sub(1);
    let share = OTHERS.checked_div(others).unwrap_or(0);
    let first = 1_000_000 - share * others;
    let shares = std::iter::once(first).chain(std::iter::repeat(share));
    names
        .into_iter()
        .zip(shares)
        .map(|(name, millionths)| (name, json!(f64::from(millionths) / 1e6)))
        .collect()
}

fn value_of<'a>(json: &'a str, key: &str) -> Option<&'a RawValue> {
    entries(json).get(key).copied()
}

/// Keys and values in the order sent, which `serde_json::Value` does not keep; none for anything but
/// an object.
fn entries(json: &str) -> IndexMap<String, &RawValue> {
    serde_json::from_str(json).unwrap_or_default()
}
