//! Answers in Google's Decisions format that depend only on the questions.

use serde_json::{Value, json};

use super::http::ReceivedRequest;
use super::system_one;

/// The body of an answer to a request.
pub(super) fn reply(request: &ReceivedRequest) -> Value {
    let answered = system_one::reply(request);
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
