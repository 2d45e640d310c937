//! The protocol `systemone`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the System One format of decision models. [`reading`] reads it and knows no connections.

pub(crate) mod reading;

use refract_domain::prism::question::Question;

use crate::error::ModelError;
use crate::protocols::typed_questions::format::{TypedFormat, write_json};

/// The System One format.
pub(crate) static FORMAT: TypedFormat = TypedFormat {
    before_state: r#","state":"#,
    before_questions: r#","questions":{"#,
    end: "}}",
    write_state: |json, state, room| {
        json.reserve_exact(state.unescaped_bytes() + room);
        write_json(json, state);
    },
    write_question,
    read: reading::read,
    malformed: ModelError::NotSystemOne,
};

/// Appends a question under its key.
pub(crate) fn write_question(json: &mut Vec<u8>, question: &Question, written: &str) {
    write_json(json, question.key.as_str());
    json.push(b':');
    json.extend_from_slice(written.as_bytes());
}
