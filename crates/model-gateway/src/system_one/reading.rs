//! Reads System One answers: an object with an answer under the key of each question.
//!
//! Keys that were not asked for are ignored, whatever their values are.

use refract_domain::answer::Answer;
use refract_domain::question::{Question, QuestionKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answers::{ReadAnswers, answer_each};
use crate::coverage::OutcomeCoverage;
use crate::failure::ModelFailure;
use crate::json::{JsonObject, nested, string};
use crate::typed_questions::answers::{self, SentChoice};

/// Reads the answers to these questions.
pub(super) fn read(
    answers: &RawValue,
    questions: &[Question],
) -> Result<ReadAnswers, ModelFailure> {
    let sent: JsonObject<'_> = nested(answers).ok_or(ModelFailure::NotSystemOne)?;
    let mut coverage = OutcomeCoverage::default();
    let answers = answer_each(questions, |question| {
        let raw = sent.get(question.key.as_str())?;
        read_answer(question, raw, &mut coverage)
    })?;
    Ok(ReadAnswers { answers, coverage })
}

fn read_answer(
    question: &Question,
    raw: &RawValue,
    coverage: &mut OutcomeCoverage,
) -> Option<Answer> {
    let json: SystemOneAnswerJson<'_> = nested(raw)?;
    let kind = json.kind.and_then(string)?;
    match (&question.kind, kind.as_ref()) {
        (QuestionKind::Choice { .. }, "choice") => {
            // an answer without a name is none
            let sent = SentChoice {
                named: &json.choice.and_then(string)?,
                confidence: json.confidence,
                probabilities: probabilities(&json)?,
            };
            answers::choice(question, &sent, coverage)
        }
        (QuestionKind::YesNo, "noul") => answers::yes_no(json.noul, coverage),
        (QuestionKind::Scale { .. }, "score") => {
            answers::scale(question, &probabilities(&json)?, coverage)
        }
        (QuestionKind::Choice { .. } | QuestionKind::YesNo | QuestionKind::Scale { .. }, _) => None,
    }
}

fn probabilities<'a>(json: &SystemOneAnswerJson<'a>) -> Option<JsonObject<'a>> {
    match json.probabilities {
        Some(raw) => nested(raw),
        None => Some(JsonObject::default()),
    }
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
}
