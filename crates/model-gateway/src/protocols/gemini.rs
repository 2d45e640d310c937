//! The protocol `gemini`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: Google's Decisions format (`POST /v1beta/decisions`), as its published client
//! `google-genai` 3.6.1 types it. Questions and answers are those of System One; the state is a
//! string as in OpenAI's format, and answers name no model.

use refract_domain::limits;
use refract_domain::prism::Question;
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::protocols::answers::ReadAnswers;
use crate::protocols::typed_questions::format::TypedFormat;
use crate::protocols::{decisions, system_one};

/// The format's upper bound on the questions of a request.
const MOST_QUESTIONS: usize = 1_000;
/// The format's upper bound on the options of a choice and on the levels of a score.
const MOST_OUTCOMES: usize = 255;

// no prism exceeds the format's limits, so only the size splits requests
const _: () = assert!(
    *limits::QUESTIONS.end() <= MOST_QUESTIONS
        // includes the two built-in outcomes
        && *limits::OPTIONS.end() + 2 <= MOST_OUTCOMES
        && *limits::LEVELS.end() <= MOST_OUTCOMES
);

/// Google's Decisions format.
pub(crate) static FORMAT: TypedFormat = TypedFormat {
    before_state: r#","input":"#,
    before_questions: r#","questions":{"#,
    end: "}}",
    write_state: decisions::write_input,
    write_question: system_one::write_question,
    read,
    malformed: ModelError::NotGemini,
};

/// Reads the answers to these questions.
fn read(answers: &RawValue, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    let read = system_one::read_by_key(answers, questions);
    read.ok_or(ModelError::NotGemini)?
}
