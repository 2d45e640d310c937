//! The protocol `decisions`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the OpenAI Decisions format. [`question`] writes it, [`reading`] reads it; neither knows
//! connections.

mod question;
mod reading;

use refract_domain::submission::model_input::State;

use self::question::DecisionsQuestion;
use crate::error::ModelError;
use crate::protocols::typed_questions::format::{TypedFormat, write_json};

/// The OpenAI Decisions format. The state is a string that holds JSON; the estimate counts that
/// JSON, since the model reads it.
pub(crate) static FORMAT: TypedFormat = TypedFormat {
    before_state: r#","input":"#,
    before_questions: r#","questions":["#,
    end: "]}",
    write_state: write_input,
    write_question: |json, question, _| write_json(json, &DecisionsQuestion::new(question)),
    read: reading::read,
    malformed: ModelError::NotDecisions,
};

/// Appends the state as a string that holds JSON, and reserves `room` bytes behind it.
pub(crate) fn write_input(json: &mut Vec<u8>, state: &State<'_>, room: usize) {
    // serializing a state cannot fail
    let text = serde_json::to_string(state).unwrap_or_default();
    let escaped = text.bytes().filter(|byte| matches!(byte, b'"' | b'\\'));
    json.reserve_exact(text.len() + escaped.count() + room);
    write_json(json, &text);
}
