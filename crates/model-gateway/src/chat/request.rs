//! Writes the bodies of requests. The bytes that requests about one submission share are written
//! once.

use bytes::Bytes;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use serde_json::{Value, json};

use super::capabilities::OptionalParameters;
use super::codes::{CODES_PER_LETTER, CodeShape, letter};
use super::prompt;
use crate::request_body::RequestBody;

/// Most tokens of an answer that is a code: enough for an empty block of thinking before it.
const CODE_TOKENS: u32 = 8;
/// Most tokens of an answer that is an object with a code.
const OBJECT_TOKENS: u32 = 24;

/// The prompts of all questions about one submission.
pub(super) struct Prompts {
    beginning: Bytes,
    endings: Vec<Bytes>,
}

/// The code that a request asks for.
#[derive(Clone, Debug)]
pub(super) enum WantedCode {
    /// Any code.
    Any,
    /// The end of a code that begins with this letter, in a message of the model that has begun with
    /// the letter.
    Continued { letter: usize },
    /// One of the first `codes` codes of this letter, by a schema.
    OneOf { letter: usize, codes: usize },
}

impl Prompts {
    pub(super) fn new(model: &str, version: &PrismVersion, submission: &Submission) -> Self {
        let mut beginning = format!(
            r#"{{"model":{},"messages":[{{"role":"system","content":{}}},{{"role":"user","content":""#,
            json!(model),
            json!(prompt::SYSTEM)
        )
        .into_bytes();
        write_inside(&mut beginning, &prompt::beginning(version, submission));
        let endings = version.questions().iter().map(|question| {
            let mut ending = Vec::new();
            let text = prompt::ending(question, CodeShape::of(question));
            write_inside(&mut ending, &text);
            Bytes::from(ending)
        });
        Self {
            endings: endings.collect(),
            beginning: beginning.into(),
        }
    }

    /// The body that asks the question at this index.
    pub(super) fn body(
        &self,
        index: usize,
        wanted: &WantedCode,
        parameters: OptionalParameters,
    ) -> RequestBody {
        let ending = self.endings.get(index).cloned().unwrap_or_default();
        RequestBody::new([
            self.beginning.clone(),
            ending,
            end(wanted, parameters).into(),
        ])
    }
}

/// Writes a text as the inside of a JSON string.
pub(crate) fn write_inside(bytes: &mut Vec<u8>, text: &str) {
    let start = bytes.len();
    // writing a text into a vector cannot fail
    let _ = serde_json::to_writer(&mut *bytes, text);
    bytes.pop();
    bytes.remove(start);
}

/// The rest of the body behind the user message.
fn end(wanted: &WantedCode, parameters: OptionalParameters) -> String {
    let mut begun = String::new();
    let mut written = json!({"temperature": 0, "logprobs": true, "top_logprobs": 20});
    let tokens = match wanted {
        WantedCode::Any => CODE_TOKENS,
        WantedCode::Continued { letter: place } => {
            begun = format!(r#",{{"role":"assistant","content":"{}"}}"#, letter(*place));
            set(&mut written, "continue_final_message", json!(true));
            set(&mut written, "add_generation_prompt", json!(false));
            CODE_TOKENS
        }
        WantedCode::OneOf { letter, codes } => {
            let schema = one_of(*letter, *codes);
            set(&mut written, "response_format", schema);
            OBJECT_TOKENS
        }
    };
    if parameters.max_tokens {
        set(&mut written, "max_tokens", json!(tokens));
    } else {
        set(&mut written, "max_completion_tokens", json!(tokens));
    }
    if parameters.template_kwargs {
        let no_thinking = json!({"enable_thinking": false});
        set(&mut written, "chat_template_kwargs", no_thinking);
    }
    let written = written.to_string();
    let inside = written.strip_prefix('{').unwrap_or_default();
    format!(r#""}}{begun}],{inside}"#)
}

fn set(parameters: &mut Value, name: &str, value: Value) {
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.insert(name.to_owned(), value);
    }
}

fn one_of(letter: usize, codes: usize) -> Value {
    let codes =
        (0..codes).map(|digit| CodeShape::LetterDigit.code(letter * CODES_PER_LETTER + digit));
    let code = json!({"type": "string", "enum": codes.collect::<Vec<_>>()});
    json!({"type": "json_schema", "json_schema": {"name": "code", "strict": true, "schema": {
        "type": "object", "properties": {"code": code}, "required": ["code"],
        "additionalProperties": false}}})
}

#[cfg(test)]
mod tests {
    use refract_domain::submission::SentFields;

    use super::*;
    use crate::chat::capabilities::ServerCapabilities;

    #[test]
    fn requests_of_a_call_share_the_bytes_of_their_beginning() {
        let question = |key: &str| json!({"key": key, "type": "yes_no", "text": "Is it so?"});
        let version: PrismVersion = serde_json::from_value(json!({
            "fields": [{"key": "text", "label": "Message"}],
            "questions": [question("one"), question("two")]}))
        .unwrap();
        let text = "x".repeat(100_000);
        let sent = SentFields(vec![("text".to_owned(), text)]);
        let submission = Submission::new(sent, None, version.fields()).unwrap();
        let prompts = Prompts::new("qwen", &version, &submission);
        let parameters = ServerCapabilities::default().parameters();
        let letter = WantedCode::Continued { letter: 0 };
        let bodies = [(0, WantedCode::Any), (1, WantedCode::Any), (0, letter)]
            .map(|(index, wanted)| prompts.body(index, &wanted, parameters));
        for body in &bodies {
            let [beginning, ending, end] = body.parts() else {
                panic!("{body:?}");
            };
            assert_eq!(beginning.as_ptr(), bodies[0].parts()[0].as_ptr());
            assert!(beginning.len() > 100_000);
            assert!(ending.len() + end.len() < 1_000);
        }
    }
}
