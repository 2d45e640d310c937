//! Answers that depend only on the questions: in the OpenAI Decisions format, in Google's, and in
//! System One's; and a distribution over any number of outcomes.

use indexmap::IndexMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::http::ReceivedRequest;

/// Millionths shared by all outcomes but the first.
const OTHERS: u32 = 300_000;

/// Probabilities that sum to 1: most on the first outcome, equal shares on the others.
pub(super) fn shares(outcomes: usize) -> impl Iterator<Item = Value> {
    let others = u32::try_from(outcomes)
        .unwrap_or(u32::MAX)
        .saturating_sub(1);
    let share = OTHERS.checked_div(others).unwrap_or(0);
    let first = 1_000_000 - share * others;
    let shares = std::iter::once(first).chain(std::iter::repeat(share));
    shares
        .take(outcomes)
        .map(|millionths| json!(f64::from(millionths) / 1e6))
}

/// The body of an answer to a request.
pub(super) fn decisions_reply(request: &ReceivedRequest) -> Value {
    let body = request.json();
    let questions = decisions_list(&body, "questions");
    let (input, output) = (request.body.len() / 4, questions.len() * 10);
    let tokens = json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    });
    let answers = questions.iter().map(decisions_answer);
    json!({"model": "scripted-1", "answers": answers.collect::<Vec<_>>(), "usage": tokens})
}

fn decisions_answer(question: &Value) -> Value {
    let name = question.get("name");
    match question.get("type").and_then(Value::as_str) {
        Some("choice") => {
            let values = decisions_list(question, "choices")
                .iter()
                .map(|choice| choice.get("value"));
            let probabilities = values
                .clone()
                .zip(shares(values.len()))
                .map(|(value, probability)| json!({"value": value, "probability": probability}));
            json!({"type": "choice", "name": name, "choice": values.clone().next(),
                   "confidence": 0.6, "probabilities": probabilities.collect::<Vec<_>>()})
        }
        Some("score") => {
            let levels = decisions_list(question, "levels");
            let probabilities = levels.iter().zip(shares(levels.len())).enumerate().map(
                |(index, (level, probability))| {
                    json!({"label": level.get("label"), "value": index, "probability": probability})
                },
            );
            json!({"type": "score", "name": name, "score": 0, "confidence": 0.6,
                   "probabilities": probabilities.collect::<Vec<_>>()})
        }
        Some(_) | None => json!({"type": "predicate", "name": name, "probability": 0.8}),
    }
}

/// The values of a list; empty for anything but a list.
fn decisions_list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json.get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// The body of an answer to a request.
pub(super) fn gemini_reply(request: &ReceivedRequest) -> Value {
    let answered = system_one_reply(request);
    let mut answers = answered.get("answers").cloned().unwrap_or_default();
    let each = answers.as_object_mut().into_iter().flatten();
    for (_, answer) in each {
        if let Some(answer) = answer.as_object_mut() {
            // the largest probability
            let confidence = if answer.contains_key("noul") {
                0.8
            } else {
                0.7
            };
            answer.insert("confidence".to_owned(), json!(confidence));
        }
    }
    let tokens = request.body.len() / 4;
    let usage =
        json!({"total_input_tokens": tokens, "total_output_tokens": 0, "total_tokens": tokens});
    json!({"answers": answers, "usage": usage})
}

/// The body of an answer to a request.
pub fn system_one_reply(request: &ReceivedRequest) -> Value {
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
