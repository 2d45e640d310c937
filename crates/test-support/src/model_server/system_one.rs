//! System One answers that depend only on the questions.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::http::ReceivedRequest;
use super::shares::shares;

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
            let probabilities = by_name(names);
            json!({"type": "choice", "choice": first, "confidence": 0.6, "probabilities": probabilities})
        }
        Some(r#""score""#) => {
            let levels: Vec<Value> = serde_json::from_str(criteria).unwrap_or_default();
            let names: Vec<String> = (0..levels.len()).map(|level| level.to_string()).collect();
            let legend: Map<String, Value> = names.iter().cloned().zip(levels).collect();
            json!({"type": "score", "score": 0, "confidence": 0.6, "legend": legend,
                   "probabilities": by_name(names)})
        }
        Some(_) | None => json!({"type": "noul", "noul": 0.8}),
    }
}

fn by_name(names: Vec<String>) -> Map<String, Value> {
    let shares = shares(names.len());
    names.into_iter().zip(shares).collect()
}

fn value_of<'a>(json: &'a str, key: &str) -> Option<&'a RawValue> {
    entries(json).get(key).copied()
}

/// Keys and values in the order sent, which `serde_json::Value` does not keep; empty for anything
/// but an object.
fn entries(json: &str) -> IndexMap<String, &RawValue> {
    serde_json::from_str(json).unwrap_or_default()
}
