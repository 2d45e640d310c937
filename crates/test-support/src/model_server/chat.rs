//! A chat model with a known distribution over the outcomes. It behaves like an OpenAI-compatible
//! server, which lists the most probable tokens at each position.

use serde_json::{Value, json};

use super::http::ReceivedRequest;
use super::reply::ScriptedReply;

/// A model that answers every question with the same distribution.
#[derive(Clone, Debug)]
pub struct ChatModel {
    /// Weights of the outcomes, in the order of the prompt. They need not sum to 1, and weights
    /// beyond the number of outcomes are ignored.
    pub weights: Vec<f64>,
    /// The probability of all codes together; the rest falls on the word `The`.
    pub on_codes: f64,
    /// Whether a code of two characters is cut into two tokens.
    pub cuts_codes: bool,
    /// The share of each first token that begins with a space.
    pub spaced: f64,
    /// A token before the code, with the token's probability; the rest falls on codes without the
    /// token.
    pub before: Option<(String, f64)>,
    /// How many alternatives the server lists at each position.
    pub top: usize,
    /// How a request can make the server continue from a given letter.
    pub continues: Continues,
}

/// How a server treats a request that gives the beginning of the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Continues {
    /// The server continues a message of the assistant.
    Message,
    /// The server takes a message of the assistant for an earlier turn, and supports schemas.
    Schema,
    /// The server answers a message of the assistant with an error, and supports schemas.
    RefusesMessage,
    /// The server supports neither: every answer starts from the beginning.
    Never,
}

impl ChatModel {
    /// A model that answers with codes only, without spaces, and lists the 20 most probable tokens.
    pub fn new(weights: Vec<f64>) -> Self {
        Self {
            weights,
            on_codes: 1.0,
            cuts_codes: true,
            spaced: 0.0,
            before: None,
            top: 20,
            continues: Continues::Message,
        }
    }

    /// The reply of the model's server to every request.
    pub fn reply(self) -> ScriptedReply {
        let refusing = self.continues == Continues::RefusesMessage;
        ScriptedReply::with(move |request| {
            let body = request.json();
            match last_role(&body).as_deref() {
                Some("assistant") if refusing => json!({"error": {"message": "messages end"}}),
                Some(_) | None => self.completion(request),
            }
        })
    }

    fn completion(&self, request: &ReceivedRequest) -> Value {
        let body = request.json();
        let messages = body.get("messages").and_then(Value::as_array).cloned();
        let messages = messages.unwrap_or_default();
        let user = messages.get(1).and_then(content).unwrap_or_default();
        let codes = codes(&user);
        let total: f64 = self.weights.iter().take(codes.len()).sum();
        let codes: Vec<(String, f64)> = codes
            .into_iter()
            .zip(&self.weights)
            .map(|(code, weight)| (code, self.on_codes * weight / total))
            .collect();
        let begun = messages.get(2).and_then(content).unwrap_or_default();
        let has_schema = body.get("response_format").is_some();
        let positions = match self.continues {
            Continues::Message if !begun.is_empty() => vec![digits(&codes, &begun)],
            Continues::Schema | Continues::RefusesMessage if has_schema => {
                in_object(&codes, &allowed_letter(&body))
            }
            Continues::Message
            | Continues::Schema
            | Continues::RefusesMessage
            | Continues::Never => self.answer(&codes),
        };
        tokens_reply(&positions, self.top)
    }

    /// The tokens at each position of an answer that starts from the beginning.
    fn answer(&self, codes: &[(String, f64)]) -> Vec<Vec<(String, f64)>> {
        let mut first: Vec<(String, f64)> = Vec::new();
        for (code, probability) in codes {
            let token = if self.cuts_codes && code.len() == 2 && !is_word(code) {
                code.chars().take(1).collect()
            } else {
                code.clone()
            };
            for (token, share) in [
                (format!(" {token}"), self.spaced),
                (token, 1.0 - self.spaced),
            ] {
                match first.iter_mut().find(|(known, _)| *known == token) {
                    Some((_, sum)) => *sum += probability * share,
                    None => first.push((token, probability * share)),
                }
            }
        }
        first.push(("The".to_owned(), 1.0 - self.on_codes));
        let mut positions = Vec::new();
        if let Some((before, probability)) = &self.before {
            let mut position = vec![(before.clone(), *probability)];
            let others = first.iter().cloned();
            position.extend(others.map(|(token, share)| (token, share * (1.0 - probability))));
            positions.push(position);
        }
        let written = most_probable(&first).trim().to_owned();
        positions.push(first);
        let cut = codes
            .iter()
            .any(|(code, _)| code.len() == 2 && !is_word(code));
        if self.cuts_codes && cut {
            positions.push(digits(codes, &written));
        }
        positions
    }
}

/// A chat completion that writes the most probable token at each position and lists the `top` most
/// probable ones.
pub fn tokens_reply(positions: &[Vec<(String, f64)>], top: usize) -> Value {
    let tokens = positions.iter().map(|position| {
        let mut shown = position.clone();
        shown.retain(|(_, probability)| *probability > 0.0);
        shown.sort_by(|one, other| other.1.total_cmp(&one.1));
        shown.truncate(top);
        let shown: Vec<Value> = shown.iter().map(token).collect();
        let mut written = shown.first().cloned().unwrap_or_default();
        if let Some(written) = written.as_object_mut() {
            written.insert("top_logprobs".to_owned(), Value::Array(shown));
        }
        written
    });
    let text: String = positions
        .iter()
        .map(|position| most_probable(position))
        .collect();
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": "scripted-chat-1",
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": text},
            "logprobs": {"content": tokens.collect::<Vec<_>>()},
            "finish_reason": "stop",
        }],
        "usage": {"prompt_tokens": 100, "completion_tokens": positions.len()},
    })
}

fn token((text, probability): &(String, f64)) -> Value {
    json!({"token": text, "bytes": text.as_bytes(), "logprob": probability.ln()})
}

fn most_probable(position: &[(String, f64)]) -> &str {
    let mut best: Option<&(String, f64)> = None;
    for candidate in position {
        if best.is_none_or(|best| candidate.1 > best.1) {
            best = Some(candidate);
        }
    }
    best.map_or("", |(token, _)| token.as_str())
}

/// The digits that may follow a letter in the codes, with their probabilities.
fn digits(codes: &[(String, f64)], letter: &str) -> Vec<(String, f64)> {
    let own = codes.iter().filter_map(|(code, probability)| {
        let digit = code.strip_prefix(letter)?;
        Some((digit.to_owned(), *probability))
    });
    let own: Vec<(String, f64)> = own.collect();
    let total: f64 = own.iter().map(|(_, probability)| probability).sum();
    own.into_iter()
        .map(|(digit, probability)| (digit, probability / total))
        .collect()
}

fn in_object(codes: &[(String, f64)], letter: &str) -> Vec<Vec<(String, f64)>> {
    let fixed = |text: &str| vec![(text.to_owned(), 1.0)];
    vec![
        fixed("{\""),
        fixed("code"),
        fixed("\":\""),
        fixed(letter),
        digits(codes, letter),
        fixed("\"}"),
    ]
}

/// The letter that begins all codes of the request's schema.
fn allowed_letter(body: &Value) -> String {
    let codes = body.pointer("/response_format/json_schema/schema/properties/code/enum/0");
    let first = codes.and_then(Value::as_str).unwrap_or_default();
    first.chars().take(1).collect()
}

/// The codes at the end of a user message, in order.
fn codes(user: &str) -> Vec<String> {
    let lines = user.lines().rev().map_while(|line| {
        let (code, _) = line.split_once(") ")?;
        (!code.is_empty() && code.len() <= 3).then(|| code.to_owned())
    });
    let mut codes: Vec<String> = lines.collect();
    codes.reverse();
    codes
}

fn is_word(code: &str) -> bool {
    code.chars().all(char::is_lowercase)
}

fn content(message: &Value) -> Option<String> {
    message.get("content")?.as_str().map(str::to_owned)
}

fn last_role(body: &Value) -> Option<String> {
    let last = body.get("messages")?.as_array()?.last()?;
    last.get("role")?.as_str().map(str::to_owned)
}
