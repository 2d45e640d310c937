//! Writes the bodies of requests. What the requests of a call share is written once.

use bytes::Bytes;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use serde_json::{Value, json};

use super::codes::{CODES_PER_LETTER, Shape, letter};
use super::manners::Manners;
use super::prompt;
use crate::request_body::RequestBody;

/// Enough for a code after an empty block of thinking.
const CODE_TOKENS: u32 = 8;
/// Enough for a code in an object.
const OBJECT_TOKENS: u32 = 24;

/// The prompts of a call.
pub(super) struct Prompts {
    beginning: Bytes,
    endings: Vec<Bytes>,
}

/// What is asked for.
#[derive(Clone, Debug)]
pub(super) enum Wanted {
    /// A code.
    Code,
    /// What follows this letter, by a message of the model that has begun with it.
    Continuation { letter: usize },
    /// One of the first so many codes of this letter, by a schema.
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
            let text = prompt::ending(question, Shape::of(question));
            write_inside(&mut ending, &text);
            Bytes::from(ending)
        });
        Self {
            endings: endings.collect(),
            beginning: beginning.into(),
        }
    }

    /// The body that asks the question at this index.
    pub(super) fn body(&self, index: usize, wanted: &Wanted, manners: Manners) -> RequestBody {
        let ending = self.endings.get(index).cloned().unwrap_or_default();
        RequestBody::new([self.beginning.clone(), ending, end(wanted, manners).into()])
    }
}

/// Writes a text as the inside of a JSON string.
pub(crate) fn write_inside(bytes: &mut Vec<u8>, text: &str) {
    let start = bytes.len();
    // neither the vector nor a text can fail
    let _ = serde_json::to_writer(&mut *bytes, text);
    bytes.pop();
    bytes.remove(start);
}

/// All that follows the inside of the user message.
fn end(wanted: &Wanted, manners: Manners) -> String {
    let mut begun = String::new();
    let mut parameters = json!({"temperature": 0, "logprobs": true, "top_logprobs": 20});
    let tokens = match wanted {
        Wanted::Code => CODE_TOKENS,
        Wanted::Continuation { letter: place } => {
            begun = format!(r#",{{"role":"assistant","content":"{}"}}"#, letter(*place));
            set(&mut parameters, "continue_final_message", json!(true));
            set(&mut parameters, "add_generation_prompt", json!(false));
            CODE_TOKENS
        }
        Wanted::OneOf { letter, codes } => {
            let schema = one_of(*letter, *codes);
            set(&mut parameters, "response_format", schema);
            OBJECT_TOKENS
        }
    };
    if manners.max_tokens {
        set(&mut parameters, "max_tokens", json!(tokens));
    } else {
        set(&mut parameters, "max_completion_tokens", json!(tokens));
    }
    if manners.template_kwargs {
        let no_thinking = json!({"enable_thinking": false});
        set(&mut parameters, "chat_template_kwargs", no_thinking);
    }
    let parameters = parameters.to_string();
    let inside = parameters.strip_prefix('{').unwrap_or_default();
    format!(r#""}}{begun}],{inside}"#)
}

fn set(parameters: &mut Value, name: &str, value: Value) {
    if let Some(parameters) = parameters.as_object_mut() {
        parameters.insert(name.to_owned(), value);
    }
}

fn one_of(letter: usize, codes: usize) -> Value {
    let codes = (0..codes).map(|digit| Shape::LetterDigit.code(letter * CODES_PER_LETTER + digit));
    let code = json!({"type": "string", "enum": codes.collect::<Vec<_>>()});
    json!({"type": "json_schema", "json_schema": {"name": "code", "strict": true, "schema": {
        "type": "object", "properties": {"code": code}, "required": ["code"],
        "additionalProperties": false}}})
}

#[cfg(test)]
mod tests {
    use refract_domain::submission::SentFields;

    use super::*;
    use crate::chat::manners::Learned;

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
        let manners = Learned::default().manners();
        let letter = Wanted::Continuation { letter: 0 };
        let bodies = [(0, Wanted::Code), (1, Wanted::Code), (0, letter)]
            .map(|(index, wanted)| prompts.body(index, &wanted, manners));
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
