//! llama.cpp's server in front of a chat model: the distinctive members of its completions, and its
//! native endpoints outside `/v1`.
//!
//! Source: `tools/server/README.md` and `tools/server/server-task.cpp` of llama.cpp.

use serde_json::{Value, json};

use super::chat::ChatModel;
use super::completion::{cut, tokens};
use super::http::ReceivedRequest;
use super::reply::ScriptedReply;

/// The server's template puts these before the system message, the user message and the answer.
const ROLES: [&str; 3] = ["<|system|>", "<|user|>", "<|assistant|>"];

/// A server that behaves like llama.cpp's.
#[derive(Clone, Debug)]
pub struct LlamaCppServer {
    /// The model that the server runs.
    pub model: ChatModel,
}

impl LlamaCppServer {
    /// The reply of the server to all requests.
    pub fn reply(self) -> ScriptedReply {
        ScriptedReply::answering(move |request| self.answer(request))
    }

    /// The status and the body of the server's answer to a request.
    pub fn answer(&self, request: &ReceivedRequest) -> (u16, Value) {
        let body = request.json();
        match request.path.as_str() {
            "/v1/chat/completions" | "/chat/completions" => {
                let (status, mut completion) = self.model.answer_to(&body);
                if let Some(completion) = completion.as_object_mut() {
                    let build = json!("b6123-0a1b2c3");
                    completion.insert("system_fingerprint".to_owned(), build);
                    let timings = json!({"cache_n": 99, "prompt_n": 1, "predicted_n": 1});
                    completion.insert("timings".to_owned(), timings);
                }
                (status, completion)
            }
            "/apply-template" => (200, json!({"prompt": fill_template(&body)})),
            "/completion" => (200, self.complete(&body)),
            _ => {
                let error =
                    json!({"message": "File Not Found", "type": "not_found_error", "code": 404});
                (404, json!({"error": error}))
            }
        }
    }

    /// The answer to one prompt, or the list of answers to several.
    fn complete(&self, body: &Value) -> Value {
        let prompts = body.get("prompt").and_then(Value::as_array);
        let top = body.get("n_probs").and_then(Value::as_u64);
        let top = top.and_then(|top| usize::try_from(top).ok());
        let prompts = prompts.into_iter().flatten().filter_map(Value::as_str);
        let answers = prompts.enumerate().map(|(index, prompt)| {
            let mut positions = self.model.positions(&chat_of(prompt));
            cut(
                &mut positions,
                body.get("n_predict").and_then(Value::as_u64),
            );
            let shown = tokens(&positions, top.unwrap_or_default(), self.model.names_bytes);
            json!({
                "index": index,
                "id_slot": 1,
                "completion_probabilities": shown,
                "tokens_evaluated": 100,
                "tokens_predicted": positions.len(),
            })
        });
        let mut answers: Vec<Value> = answers.collect();
        match answers.len() {
            1 => answers.remove(0),
            _ => Value::Array(answers),
        }
    }
}

/// The prompt that the server builds from the messages of a chat request. A final message of the
/// assistant is continued.
fn fill_template(body: &Value) -> String {
    let messages = body.get("messages").and_then(Value::as_array);
    let mut contents = messages.into_iter().flatten().map(|message| {
        let content = message.get("content").and_then(Value::as_str);
        content.unwrap_or_default()
    });
    ROLES
        .into_iter()
        .flat_map(|role| [role, contents.next().unwrap_or_default()])
        .collect()
}

/// The chat request whose messages give this prompt.
fn chat_of(prompt: &str) -> Value {
    let mut rest = prompt;
    let mut contents = Vec::new();
    for role in ROLES.into_iter().rev() {
        let (before, content) = rest.rsplit_once(role).unwrap_or_default();
        contents.push(json!({"content": content}));
        rest = before;
    }
    contents.reverse();
    json!({"messages": contents})
}
