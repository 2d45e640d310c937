//! Writes the bodies of requests. Bytes that all requests about one submission share are written
//! once.
//!
//! The beginning of a chat request's body, up to the inside of the user message: with a system
//! message, or with its words at the beginning of the user message if the model's template takes
//! none.

use std::collections::BTreeSet;

use bytes::Bytes;
use refract_domain::prism::PrismVersion;
use refract_domain::prism::question::Question;
use refract_domain::submission::Submission;
use serde::Serialize;
use serde_json::{Value, json};

use super::capabilities::OptionalParameters;
use super::prompt;
use super::prompt::{CODES_PER_LETTER, CodeShape};
use crate::connection::request_body::RequestBody;
use crate::protocols::concurrent::SharedText;

/// Token limit for an answer that is an object with a code.
const OBJECT_TOKENS: u8 = 24;

/// The prompts of all questions about one submission.
pub(super) struct Prompts {
    opening: ChatOpening,
    /// The user message up to what differs between questions.
    beginning: Bytes,
    /// Whether a question is named by its key, as prompt 4 does, instead of written out.
    name_keys: bool,
}

/// The code that a request wants.
#[derive(Clone, Debug)]
pub(super) enum WantedCode {
    /// Any code, in an answer that is begun with the question's key where the server goes on.
    Any,
    /// Any code, in an answer that is not begun.
    Unbegun,
    /// The rest of a code, after a model's message that has begun with this text: a letter in the
    /// model's spelling.
    Continued { begun: String },
    /// One of the first `codes` codes of this letter, enforced by a schema.
    OneOf { letter: usize, codes: usize },
}

impl Prompts {
    /// Prompt 3.
    pub(super) fn material_first(
        opening: &ChatOpening,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Self {
        Self {
            opening: opening.clone(),
            beginning: inside_json(&prompt::beginning(version, submission)).into(),
            name_keys: false,
        }
    }

    /// Prompt 4, with all questions of the version as `listing`.
    pub(super) fn questions_first(
        model: &str,
        listing: &str,
        version: &PrismVersion,
        submission: &Submission,
    ) -> Self {
        let system = format!("{}{listing}", prompt::LISTED_SYSTEM);
        Self {
            opening: ChatOpening::new(model, &system),
            beginning: inside_json(&prompt::material(version, submission)).into(),
            name_keys: true,
        }
    }

    /// What all requests begin with.
    pub(super) fn shared(&self) -> SharedText {
        if self.name_keys {
            return SharedText::Nearly {
                bytes: self.beginning.len(),
            };
        }
        let opening = self.opening.bytes(true).len();
        SharedText::Beginning {
            bytes: opening + self.beginning.len(),
        }
    }

    /// Whether requests name the question by its key.
    pub(super) fn name_keys(&self) -> bool {
        self.name_keys
    }

    /// The body of a request about a question. The answer gets up to `code_tokens` tokens if it is a
    /// code.
    pub(super) fn body(
        &self,
        question: &Question,
        wanted: &WantedCode,
        code_tokens: u8,
        parameters: OptionalParameters<'_>,
    ) -> RequestBody {
        let continued = match wanted {
            WantedCode::Continued { begun } => Some(begun.as_str()),
            WantedCode::Any | WantedCode::Unbegun | WantedCode::OneOf { .. } => None,
        };
        let shape = CodeShape::of(question);
        let begun = continued.map(str::to_owned);
        let (ending, begun) = if !self.name_keys {
            (prompt::ending(question, shape), begun)
        } else if parameters.begun_answer {
            let begun = format!("{} = {}", question.key, continued.unwrap_or_default());
            (String::new(), Some(begun))
        } else {
            (prompt::last_lines(question, shape), begun)
        };
        RequestBody::new([
            self.opening.bytes(parameters.system_message),
            self.beginning.clone(),
            inside_json(&ending).into(),
            end(wanted, begun.as_deref(), code_tokens, parameters).into(),
        ])
        .with_system_message(parameters.system_message)
    }
}

/// A text as the inside of a JSON string.
pub(crate) fn inside_json(text: &str) -> Vec<u8> {
    // serializing a string cannot fail
    let mut json = serde_json::to_vec(text).unwrap_or_default();
    json.pop();
    json.drain(..1);
    json
}

/// The parameters of a request; they follow its messages.
#[derive(Serialize)]
struct ChatParameters<'a> {
    temperature: u8,
    logprobs: bool,
    top_logprobs: u16,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    chat_template_kwargs: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    logprob_token_ids: Option<&'a BTreeSet<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    continue_final_message: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    add_generation_prompt: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<Value>,
}

/// The rest of the body after the user message, with the beginning of the answer.
fn end(
    wanted: &WantedCode,
    begun: Option<&str>,
    code_tokens: u8,
    parameters: OptionalParameters<'_>,
) -> String {
    let (tokens, response_format) = match wanted {
        WantedCode::Any | WantedCode::Unbegun | WantedCode::Continued { .. } => (code_tokens, None),
        WantedCode::OneOf { letter, codes } => (OBJECT_TOKENS, Some(one_of(*letter, *codes))),
    };
    let limit = parameters.limit;
    let tokens = limit.at_least(tokens);
    let written = ChatParameters {
        temperature: 0,
        logprobs: true,
        top_logprobs: parameters.alternatives,
        max_tokens: limit.is_max_tokens().then_some(tokens),
        max_completion_tokens: (!limit.is_max_tokens()).then_some(tokens),
        chat_template_kwargs: parameters
            .template_kwargs
            .then(|| json!({"enable_thinking": false})),
        logprob_token_ids: parameters.named_tokens.map(|named| &named.ids),
        continue_final_message: begun.map(|_| true),
        add_generation_prompt: begun.map(|_| false),
        response_format,
    };
    let begun = begun.map(|text| format!(r#",{{"role":"assistant","content":{}}}"#, json!(text)));
    let begun = begun.unwrap_or_default();
    // serializing these values cannot fail
    let written = serde_json::to_string(&written).unwrap_or_default();
    let inside = written.strip_prefix('{').unwrap_or_default();
    format!(r#""}}{begun}],{inside}"#)
}

fn one_of(letter: usize, codes: usize) -> Value {
    let codes =
        (0..codes).map(|digit| CodeShape::LetterDigit.code(letter * CODES_PER_LETTER + digit));
    let code = json!({"type": "string", "enum": codes.collect::<Vec<_>>()});
    json!({"type": "json_schema", "json_schema": {"name": "code", "strict": true, "schema": {
        "type": "object", "properties": {"code": code}, "required": ["code"],
        "additionalProperties": false}}})
}

/// Both forms of the beginning. All requests to a server share their bytes.
#[derive(Clone, Debug)]
pub(crate) struct ChatOpening {
    with_system_message: Bytes,
    in_user_message: Bytes,
}

impl ChatOpening {
    /// Writes both forms for a model and the words of its system message.
    pub(crate) fn new(model: &str, system: &str) -> Self {
        let model = json!(model);
        let with_system_message = format!(
            r#"{{"model":{model},"messages":[{{"role":"system","content":{}}},{{"role":"user","content":""#,
            json!(system)
        );
        let mut in_user_message = format!(
            r#"{{"model":{model},"messages":[{{"role":"user","content":{}"#,
            json!(format!("{system}\n\n"))
        );
        // removes the closing quote: the user message continues
        in_user_message.pop();
        Self {
            with_system_message: with_system_message.into(),
            in_user_message: in_user_message.into(),
        }
    }

    /// The form with or without a system message.
    pub(crate) fn bytes(&self, has_system_message: bool) -> Bytes {
        let form = if has_system_message {
            &self.with_system_message
        } else {
            &self.in_user_message
        };
        form.clone()
    }
}

#[cfg(test)]
mod tests {
    use refract_domain::submission::SentFields;

    use crate::protocols::chat::capabilities::{ServerCapabilities, USUAL_ALTERNATIVES};

    use super::*;

    #[test]
    fn requests_of_a_call_share_the_bytes_of_their_beginning() {
        let question = |key: &str| json!({"key": key, "type": "yes_no", "text": "Is it so?"});
        let version: PrismVersion = serde_json::from_value(json!({
            "fields": [{"key": "text", "label": "Message"}],
            "questions": [question("one"), question("two")]}))
        .unwrap();
        let text = "x".repeat(100_000);
        let sent = SentFields::new(vec![("text".to_owned(), text)]);
        let submission = Submission::new(sent, None, version.fields()).unwrap();
        let opening = ChatOpening::new("qwen", prompt::SYSTEM);
        let prompts = Prompts::material_first(&opening, &version, &submission);
        let parameters = ServerCapabilities::default().parameters(USUAL_ALTERNATIVES);
        let letter = WantedCode::Continued {
            begun: " B".to_owned(),
        };
        let bodies = [(0, WantedCode::Any), (1, WantedCode::Any), (0, letter)].map(
            |(index, wanted): (usize, _)| {
                let question = &version.questions()[index];
                prompts.body(question, &wanted, 1, parameters)
            },
        );
        for body in &bodies {
            let [opening, beginning, ending, end] = body.parts() else {
                panic!("{body:?}");
            };
            assert_eq!(opening.as_ptr(), bodies[0].parts()[0].as_ptr());
            assert_eq!(beginning.as_ptr(), bodies[0].parts()[1].as_ptr());
            assert!(beginning.len() > 100_000);
            assert!(ending.len() + end.len() < 1_000);
        }
    }
}
