//! Answers in the OpenAI Decisions format that depend only on the questions.

use serde_json::{Value, json};

use super::http::ReceivedRequest;
use super::shares::shares;

/// The body of an answer to a request.
pub(super) fn reply(request: &ReceivedRequest) -> Value {
    let body = request.json();
    let questions = list(&body, "questions");
    let (input, output) = (request.body.len() / 4, questions.len() * 10);
    let tokens = json!({
        "input_tokens": input,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    });
    let answers = questions.iter().map(answer);
    json!({"model": "scripted-1", "answers": answers.collect::<Vec<_>>(), "usage": tokens})
}

fn answer(question: &Value) -> Value {
    let name = question.get("name");
    match question.get("type").and_then(Value::as_str) {
        Some("choice") => {
            let values = list(question, "choices")
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
            let levels = list(question, "levels");
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
fn list<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json.get(key)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}
