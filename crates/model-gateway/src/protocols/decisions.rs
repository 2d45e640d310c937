//! The protocol `decisions`: typed questions in, probabilities out, all questions in one request.
//!
//! Source: the OpenAI Decisions format. Its answers are a list with one answer for each question, in
//! the order of the questions. An answer counts only at the index of its question and with the name
//! of its question. Answers after the last question's are ignored, and so are unknown keys.

use std::borrow::Cow;

use refract_domain::answer::Answer;
use refract_domain::limits;
use refract_domain::prism::{Question, QuestionKind};
use refract_domain::submission::model_input::{State, outcome_text, question_text};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::error::ModelError;
use crate::json::{JsonObject, count, list, nested, string};
use crate::protocols::answers::ReadAnswers;
use crate::protocols::typed_questions::reply::{SentAnswer, TypedFormat, write_json};
use crate::report::ParsedOutcomes;

/// The OpenAI Decisions format. The state is a string that holds JSON; the estimate counts that
/// JSON, since the model reads it.
pub(crate) static FORMAT: TypedFormat = TypedFormat {
    before_state: r#","input":"#,
    before_questions: r#","questions":["#,
    end: "]}",
    write_state: write_input,
    write_question: |json, question, _| write_json(json, &DecisionsQuestion::new(question)),
    read,
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

/// The format's upper bound on the questions of a request.
const MOST_QUESTIONS: usize = 400;
/// The format's upper bound on the choices of a question.
const MOST_CHOICES: usize = 255;
/// The format's upper bound on the levels of a question.
const MOST_LEVELS: usize = 10;

// no prism exceeds the format's limits, so only the size splits requests
const _: () = assert!(
    *limits::QUESTIONS.end() <= MOST_QUESTIONS
        // includes the two built-in outcomes
        && *limits::OPTIONS.end() + 2 <= MOST_CHOICES
        && *limits::LEVELS.end() <= MOST_LEVELS
);

/// A question as it is sent.
#[derive(Serialize)]
struct DecisionsQuestion<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    instructions: Cow<'a, str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    choices: Vec<DecisionsChoice<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    levels: Vec<DecisionsLevel<'a>>,
}

#[derive(Serialize)]
struct DecisionsChoice<'a> {
    value: &'a str,
    description: Cow<'a, str>,
}

#[derive(Serialize)]
struct DecisionsLevel<'a> {
    label: Cow<'a, str>,
}

impl<'a> DecisionsQuestion<'a> {
    fn new(question: &'a Question) -> Self {
        let plain = |kind| Self {
            kind,
            name: question.key.as_str(),
            instructions: question_text(question),
            choices: Vec::new(),
            levels: Vec::new(),
        };
        let outcomes = question.outcomes();
        match question.kind {
            QuestionKind::YesNo => plain("predicate"),
            QuestionKind::Choice { .. } => {
                let choices = outcomes.map(|outcome| DecisionsChoice {
                    value: outcome.key,
                    description: outcome_text(outcome),
                });
                Self {
                    choices: choices.collect(),
                    ..plain("choice")
                }
            }
            QuestionKind::Scale { .. } => {
                let levels = outcomes.map(|outcome| DecisionsLevel {
                    label: outcome_text(outcome),
                });
                Self {
                    levels: levels.collect(),
                    ..plain("score")
                }
            }
        }
    }
}

/// Reads the answers to these questions.
fn read(answers: &RawValue, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    let sent = list(answers).ok_or(ModelError::NotDecisions)?;
    let mut sent = sent.into_iter();
    let mut parsed = ParsedOutcomes::default();
    let answers = questions.iter().map(|question| {
        let answer = read_answer(question, sent.next(), &mut parsed)?;
        Ok((question.key.clone(), answer))
    });
    Ok(ReadAnswers {
        answers: answers.collect::<Result<_, ModelError>>()?,
        parsed,
    })
}

/// Reads the answer to a question; fails if the list has no usable entry for it.
fn read_answer(
    question: &Question,
    raw: Option<&RawValue>,
    parsed: &mut ParsedOutcomes,
) -> Result<Answer, ModelError> {
    let unanswered = || ModelError::Unanswered(question.key.clone());
    let json: DecisionsAnswerJson<'_> = raw.and_then(nested).ok_or_else(unanswered)?;
    let kind = json.kind.and_then(string).ok_or_else(unanswered)?;
    let is_named = |raw| string(raw).is_some_and(|name| name == question.key.as_str());
    if kind == "refusal" && json.name.is_none_or(is_named) {
        return Err(ModelError::Refused(question.key.clone()));
    }
    if !json.name.is_some_and(is_named) {
        return Err(unanswered());
    }
    let answer = SentAnswer {
        kind: &kind,
        choice: json.choice,
        yes: json.probability,
        confidence: json.confidence,
        probabilities: match question.kind {
            QuestionKind::Choice { .. } => by_value(json.probabilities),
            QuestionKind::Scale { .. } => by_level(question, json.probabilities),
            QuestionKind::YesNo => None,
        },
    };
    let answer = answer.read(question, "predicate", parsed);
    answer.ok_or_else(unanswered)
}

/// The probabilities of choices by their value. The format allows values that are no text; they are
/// ignored.
fn by_value(sent: Option<&RawValue>) -> Option<JsonObject<'_>> {
    let entries = entries(sent)?.into_iter();
    JsonObject::of(entries.filter_map(|entry| Some((string(entry.value)?, entry.probability))))
}

/// The probabilities of levels by their value, the index of the level. Two levels may have equal
/// labels, so a label does not identify a level. But a value of no level, or a label that belongs only
/// to other levels than the value's, shows that the server counts otherwise, for example from 1. Then
/// no level can be read.
fn by_level<'a>(question: &Question, sent: Option<&'a RawValue>) -> Option<JsonObject<'a>> {
    let labels: Vec<Cow<'_, str>> = question.outcomes().map(outcome_text).collect();
    let levels = entries(sent)?.into_iter().map(|entry| {
        let index = usize::try_from(count(entry.value)?).ok()?;
        let own = labels.get(index)?;
        let label = entry.label.and_then(string);
        let is_of_another = label.is_some_and(|label| label != *own && labels.contains(&label));
        (!is_of_another).then(|| (Cow::Owned(index.to_string()), entry.probability))
    });
    JsonObject::of(levels.collect::<Option<Vec<_>>>()?)
}

/// The entries of a list of probabilities; empty if no list was sent. `None` if an entry has no
/// value or no probability.
fn entries(sent: Option<&RawValue>) -> Option<Vec<ProbabilityJson<'_>>> {
    let Some(sent) = sent else {
        return Some(Vec::new());
    };
    list(sent)?.into_iter().map(nested).collect()
}

#[derive(Deserialize)]
struct DecisionsAnswerJson<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    choice: Option<&'a RawValue>,
    #[serde(borrow)]
    probability: Option<&'a RawValue>,
    #[serde(borrow)]
    confidence: Option<&'a RawValue>,
    #[serde(borrow)]
    probabilities: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ProbabilityJson<'a> {
    #[serde(borrow)]
    value: &'a RawValue,
    #[serde(borrow)]
    label: Option<&'a RawValue>,
    #[serde(borrow)]
    probability: &'a RawValue,
}
