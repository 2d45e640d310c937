//! Reads System One answers: an object with an answer under the key of each question.
//!
//! Unknown keys are ignored, whatever their values.

use refract_domain::prism::question::Question;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::json::{JsonObject, nested, string};
use crate::protocols::answers::{ReadAnswers, answer_each};
use crate::protocols::typed_questions::answers::SentAnswer;

/// Reads the answers to these questions.
pub(super) fn read(answers: &RawValue, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    read_by_key(answers, questions).ok_or(ModelError::NotSystemOne)?
}

/// Reads the answers to these questions; `None` if `answers` is no object.
pub(crate) fn read_by_key(
    answers: &RawValue,
    questions: &[Question],
) -> Option<Result<ReadAnswers, ModelError>> {
    let sent: JsonObject<'_> = nested(answers)?;
    Some(answer_each(questions, |question, parsed| {
        let json: SystemOneAnswerJson<'_> = nested(sent.get(question.key.as_str())?)?;
        let answer = SentAnswer {
            kind: &json.kind.and_then(string)?,
            choice: json.choice,
            // Databricks has its own name
            yes: json.noul.or(json.probability),
            confidence: json.confidence,
            probabilities: match json.probabilities {
                Some(raw) => nested(raw),
                None => Some(JsonObject::default()),
            },
        };
        answer.read(question, "noul", parsed)
    }))
}

#[derive(Deserialize)]
struct SystemOneAnswerJson<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    choice: Option<&'a RawValue>,
    #[serde(borrow)]
    noul: Option<&'a RawValue>,
    #[serde(borrow)]
    confidence: Option<&'a RawValue>,
    #[serde(borrow)]
    probabilities: Option<&'a RawValue>,
    #[serde(borrow)]
    probability: Option<&'a RawValue>,
}
