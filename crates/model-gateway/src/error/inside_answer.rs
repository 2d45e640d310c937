//! Finds the refusal that a gateway sends inside an answer with status 200: the host behind it
//! refused, and its status is in the body.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::server_error::ServerError;
use crate::json::has_content;

/// Keys of which one is in every such body. Most answers have none, and are not parsed here.
const KEYS: [&str; 2] = ["\"error", "\"base_resp"];
/// Keys under which an error has its status, as a number or as digits.
const STATUS_KEYS: [&str; 6] = [
    "code",
    "status",
    "status_code",
    "statusCode",
    "http_status",
    "http_code",
];
/// Words for a rate in errors without a status.
const RATE_WORDS: [&str; 4] = [
    "rate limit",
    "rate_limit",
    "too many requests",
    "too_many_requests",
];

/// LM Studio's words for an address that it lacks, which it answers with 200.
const NO_ENDPOINT: &str = "unexpected endpoint or method";

/// The refusal in the body of an answer with status 200. `None` if the body reports none, or one of
/// another kind than a rate, a failing server, used-up credit, a filter, too long a text or a missing
/// endpoint.
pub(crate) fn refusal(body: &Bytes, retry_after: Option<Duration>) -> Option<ServerError> {
    let text = std::str::from_utf8(body).ok()?;
    if !KEYS.iter().any(|key| text.contains(key)) {
        return None;
    }
    let json: Value = serde_json::from_str(text).ok()?;
    let error = error_in(&json)?;
    if mentions(error, NO_ENDPOINT) {
        return Some(ServerError::new(404, retry_after, body.clone()));
    }
    let is_rate = || RATE_WORDS.iter().any(|words| mentions(error, words));
    let status = status_in(error).or_else(|| status_in(&json));
    let status = status.or_else(|| is_rate().then_some(429));
    ServerError::inside_answer(status, retry_after, body.clone())
}

/// The error that a body reports; some servers send the key with an empty value.
fn error_in(json: &Value) -> Option<&Value> {
    let json = match json {
        Value::Array(list) => list.first()?,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            json
        }
    };
    let own = json.get("error").filter(|error| has_content(error));
    let flat = || (json.get("object")?.as_str()? == "error").then_some(json);
    let of_choice = || {
        json.pointer("/choices/0/error")
            .filter(|error| has_content(error))
    };
    let wrapped = || {
        if json.get("answers").is_some() {
            return None;
        }
        let pointers = ["/result/error", "/response/error", "/errors/0"];
        let mut found = pointers.iter().filter_map(|pointer| json.pointer(pointer));
        found.find(|error| has_content(error))
    };
    // MiniMax sends it with every answer; 0 is success
    let of_minimax = || {
        let state = json.get("base_resp")?;
        (state.get("status_code")?.as_i64()? != 0).then_some(state)
    };
    own.or_else(flat)
        .or_else(of_choice)
        .or_else(wrapped)
        .or_else(of_minimax)
}

/// The status of an error.
fn status_in(error: &Value) -> Option<u16> {
    let read = |value: &Value| match value.as_str() {
        Some(digits) => digits.parse().ok(),
        None => u16::try_from(value.as_u64()?).ok(),
    };
    let statuses = STATUS_KEYS.iter().filter_map(|key| read(error.get(*key)?));
    statuses
        .into_iter()
        .find(|status| (400..600).contains(status))
}

/// Whether a text of the error mentions these words.
fn mentions(error: &Value, words: &str) -> bool {
    match error {
        Value::String(text) => text.to_lowercase().contains(words),
        Value::Object(object) => object
            .values()
            .filter(|value| value.is_string())
            .any(|value| mentions(value, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    }
}

#[cfg(test)]
mod tests;
