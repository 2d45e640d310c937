//! What distinguishes the formats of typed questions.

use refract_domain::prism::Question;
use refract_domain::submission::model_input::State;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::protocols::answers::ReadAnswers;

/// How a format writes requests and reads answers.
#[derive(Debug)]
pub(crate) struct TypedFormat {
    /// The JSON between the model's name and the text to judge.
    pub(crate) before_state: &'static str,
    /// The JSON between the text to judge and the first question.
    pub(crate) before_questions: &'static str,
    /// The JSON after the last question.
    pub(crate) end: &'static str,
    /// Writes the text to judge, and reserves this many bytes for what follows it.
    pub(crate) write_state: fn(&mut Vec<u8>, &State<'_>, usize),
    /// Writes a question, which also comes as System One JSON.
    pub(crate) write_question: fn(&mut Vec<u8>, &Question, &str),
    /// Reads the value of `answers` as answers to the questions of a request.
    pub(crate) read: fn(&RawValue, &[Question]) -> Result<ReadAnswers, ModelError>,
    /// The error for a body in another format.
    pub(crate) malformed: ModelError,
}

/// Appends a value as JSON.
pub(crate) fn write_json(json: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) {
    // writing these values into a vector cannot fail
    let _ = serde_json::to_writer(json, value);
}
