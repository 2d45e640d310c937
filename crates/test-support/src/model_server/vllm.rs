//! vLLM's server in front of a chat model: it refuses more alternatives than its limit, and can
//! list named tokens.
//!
//! Source: `entrypoints/openai/chat_completion/serving.py`, `sampling_params.py` and
//! `entrypoints/serve/tokenize/protocol.py` of vLLM 0.33.0.

use serde_json::{Value, json};

use super::chat::ChatModel;
use super::http::ReceivedRequest;
use super::reply::ScriptedReply;

/// A server that behaves like vLLM's.
#[derive(Clone, Debug)]
pub struct VllmServer {
    /// The model that the server runs.
    pub model: ChatModel,
}

impl VllmServer {
    /// A server for a model, with vLLM's usual limit of 20 alternatives.
    pub fn new(model: ChatModel) -> Self {
        Self {
            model: ChatModel {
                top: 20,
                refuses_more: true,
                ..model
            },
        }
    }

    /// The reply of the server to all requests.
    pub fn reply(self) -> ScriptedReply {
        ScriptedReply::answering(move |request| self.answer(request))
    }

    /// The status and the body of the server's answer to a request.
    pub fn answer(&self, request: &ReceivedRequest) -> (u16, Value) {
        let body = request.json();
        match request.path.as_str() {
            "/v1/chat/completions" => self.complete(&body),
            "/tokenize" => (200, tokenize(&body)),
            _ => (404, json!({"detail": "Not Found"})),
        }
    }

    fn complete(&self, body: &Value) -> (u16, Value) {
        let (status, mut completion) = self.model.answer_to(body);
        let named = body.get("logprob_token_ids").and_then(Value::as_array);
        let content = completion.pointer_mut("/choices/0/logprobs/content");
        let (Some(named), Some(content)) = (named, content) else {
            return (status, completion);
        };
        let positions = self.model.positions(body);
        for (token, position) in content.as_array_mut().into_iter().flatten().zip(&positions) {
            let written = token
                .get("token")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let mut texts = vec![written.to_owned()];
            let others = named.iter().filter_map(Value::as_u64).map(text_of);
            texts.extend(others.filter(|text| text != written));
            let listed = texts.iter().map(|text| {
                let known = position.iter().find(|(known, _)| known == text);
                let logarithm = known.map_or(f64::MIN, |(_, probability)| probability.ln());
                json!({"token": text, "bytes": text.as_bytes(), "logprob": logarithm.max(-9999.0)})
            });
            let listed: Value = listed.collect();
            if let Some(token) = token.as_object_mut() {
                token.insert("top_logprobs".to_owned(), listed);
            }
        }
        (status, completion)
    }
}

/// Splits a prompt like common tokenizers: line breaks, words with the space before them, digits.
fn tokenize(body: &Value) -> Value {
    let prompt = body.get("prompt").and_then(Value::as_str);
    let mut tokens: Vec<String> = Vec::new();
    for char in prompt.unwrap_or_default().chars() {
        match tokens.last_mut() {
            Some(last)
                if char.is_alphabetic()
                    && !last.ends_with(|end: char| end == '\n' || end.is_ascii_digit()) =>
            {
                last.push(char);
            }
            Some(_) | None => tokens.push(char.to_string()),
        }
    }
    let names = tokens
        .iter()
        .map(|token| token.replace(' ', "Ġ").replace('\n', "Ċ"));
    json!({
        "count": tokens.len(),
        "max_model_len": 32_768,
        "tokens": tokens.iter().map(|token| id_of(token)).collect::<Vec<_>>(),
        "token_strs": names.collect::<Vec<_>>(),
    })
}

/// The id of a token: its bytes read as a number.
fn id_of(token: &str) -> u64 {
    token.bytes().fold(0, |id, byte| id * 256 + u64::from(byte))
}

fn text_of(id: u64) -> String {
    let bytes = id.to_be_bytes();
    let bytes = bytes.iter().skip_while(|byte| **byte == 0);
    String::from_utf8_lossy(&bytes.copied().collect::<Vec<_>>()).into_owned()
}
