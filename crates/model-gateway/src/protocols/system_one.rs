//! The protocol `systemone`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the System One format of decision models. Its answers are an object with an answer under
//! the key of each question; unknown keys are ignored, whatever their values.
//!
//! The protocol `gemini`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: Google's Decisions format (`POST /v1beta/decisions`), as its published client
//! `google-genai` 3.6.1 types it. Questions and answers are those of System One; the state is a
//! string as in OpenAI's format, and answers name no model.

use refract_domain::limits;
use refract_domain::prism::{OutcomeRef, Question, QuestionKind};
use refract_domain::submission::model_input::outcome_text;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::json::{JsonObject, nested, string};
use crate::protocols::answers::{ReadAnswers, answer_each};
use crate::protocols::decisions;
use crate::protocols::typed_questions::reply::{SentAnswer, TypedFormat, write_json};

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
    read,
    malformed: ModelError::NotSystemOne,
};

/// Appends a question under its key.
pub(crate) fn write_question(json: &mut Vec<u8>, question: &Question, written: &str) {
    write_json(json, question.key.as_str());
    json.push(b':');
    json.extend_from_slice(written.as_bytes());
}

/// Reads the answers to these questions.
fn read(answers: &RawValue, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    read_by_key(answers, questions).ok_or(ModelError::NotSystemOne)?
}

/// Reads the answers to these questions; `None` if `answers` is no object.
fn read_by_key(
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
        if matches!(question.kind, QuestionKind::Scale { .. })
            && (counts_otherwise(answer.probabilities.as_ref(), question)
                || json
                    .legend
                    .is_some_and(|legend| contradicts(legend, question)))
        {
            return None;
        }
        answer.read(question, "noul", parsed)
    }))
}

/// Whether a level's key is a whole number but no index of a level, for example because the server
/// counts levels from 1.
fn counts_otherwise(probabilities: Option<&JsonObject<'_>>, question: &Question) -> bool {
    let levels = question.own_outcomes().len();
    let is_whole = |key: &str| {
        let digits = key.strip_prefix('-').unwrap_or(key);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_index = |key: &str| key.parse().is_ok_and(|index: usize| index < levels);
    let mut keys = probabilities.into_iter().flat_map(JsonObject::keys);
    keys.any(|key| is_whole(key) && !is_index(key))
}

/// Whether a legend gives an index the text of another level, for example because the server counts
/// levels from 1. Texts of no level contradict nothing: servers shorten them.
fn contradicts(legend: &RawValue, question: &Question) -> bool {
    let Some(legend) = nested::<JsonObject<'_>>(legend) else {
        return false;
    };
    let is_text_of =
        |level: OutcomeRef<'_>, text: &str| level.label == text || outcome_text(level) == text;
    question.outcomes().enumerate().any(|(index, level)| {
        let text = legend.get(&index.to_string()).and_then(string);
        text.is_some_and(|text| {
            let mut levels = question.outcomes();
            !is_text_of(level, &text) && levels.any(|other| is_text_of(other, &text))
        })
    })
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
    legend: Option<&'a RawValue>,
    #[serde(borrow)]
    probability: Option<&'a RawValue>,
}

/// The format's upper bound on the questions of a request.
const GEMINI_QUESTIONS: usize = 1_000;
/// The format's upper bound on the options of a choice and on the levels of a score.
const GEMINI_OUTCOMES: usize = 255;

// no prism exceeds the format's limits, so only the size splits requests
const _: () = assert!(
    *limits::QUESTIONS.end() <= GEMINI_QUESTIONS
        // includes the two built-in outcomes
        && *limits::OPTIONS.end() + 2 <= GEMINI_OUTCOMES
        && *limits::LEVELS.end() <= GEMINI_OUTCOMES
);

/// Google's Decisions format.
pub(crate) static GEMINI_FORMAT: TypedFormat = TypedFormat {
    before_state: r#","input":"#,
    before_questions: r#","questions":{"#,
    end: "}}",
    write_state: decisions::write_input,
    write_question,
    read: read_gemini,
    malformed: ModelError::NotGemini,
};

/// Reads the answers to these questions.
fn read_gemini(answers: &RawValue, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    let read = read_by_key(answers, questions);
    read.ok_or(ModelError::NotGemini)?
}
