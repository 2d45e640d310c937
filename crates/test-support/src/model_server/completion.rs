//! Chat completions with the log-probabilities of their tokens.

use serde_json::{Value, json};

/// A chat completion with the most probable token at each position, and the `top` most probable
/// ones as alternatives.
pub fn tokens_reply(positions: &[Vec<(String, f64)>], top: usize) -> Value {
    completion(positions, top, false)
}

/// Cuts an answer after `most` tokens. Returns why it ends.
pub(super) fn cut<T>(positions: &mut Vec<T>, most: Option<u64>) -> &'static str {
    let most = most.and_then(|most| usize::try_from(most).ok());
    let most = most.unwrap_or(usize::MAX);
    let is_cut = positions.len() >= most;
    positions.truncate(most);
    if is_cut { "length" } else { "stop" }
}

/// A chat completion. `names_bytes` writes tokens of one character as a byte.
pub(super) fn completion(positions: &[Vec<(String, f64)>], top: usize, names_bytes: bool) -> Value {
    let text: String = positions
        .iter()
        .map(|position| most_probable(position))
        .collect();
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_764_000_000,
        "model": "scripted-chat-1",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": tokens(positions, top, names_bytes)},
            "finish_reason": "stop",
        }],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": positions.len(),
            "total_tokens": 100 + positions.len(),
        },
    })
}

/// The most probable token at each position, with the `top` most probable ones.
pub(super) fn tokens(positions: &[Vec<(String, f64)>], top: usize, names_bytes: bool) -> Value {
    let tokens = positions.iter().map(|position| {
        let mut shown = position.clone();
        shown.retain(|(_, probability)| *probability > 0.0);
        shown.sort_by(|one, other| other.1.total_cmp(&one.1));
        shown.truncate(top);
        let shown = shown.iter().map(|listed| token(listed, names_bytes));
        let shown: Vec<Value> = shown.collect();
        let mut written = shown.first().cloned().unwrap_or_default();
        if let Some(written) = written.as_object_mut() {
            written.insert("top_logprobs".to_owned(), Value::Array(shown));
        }
        written
    });
    tokens.collect()
}

fn token((text, probability): &(String, f64), names_bytes: bool) -> Value {
    let name = match text.as_bytes() {
        [byte] if names_bytes => format!("<0x{byte:02X}>"),
        _ => text.clone(),
    };
    json!({"token": name, "bytes": text.as_bytes(), "logprob": probability.ln()})
}

/// The most probable token at a position; the first of several maxima.
pub(super) fn most_probable(position: &[(String, f64)]) -> &str {
    let mut best: Option<&(String, f64)> = None;
    for candidate in position {
        if best.is_none_or(|best| candidate.1 > best.1) {
            best = Some(candidate);
        }
    }
    best.map_or("", |(token, _)| token.as_str())
}
