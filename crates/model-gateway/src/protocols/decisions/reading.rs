//! Reads Decisions answers: a list with an answer to each question, in the order of the questions.
//!
//! An answer counts only at the place of its question and under the name of its question. Answers
//! behind that of the last question are ignored, as are keys that no question asks for.

use std::borrow::Cow;

use refract_domain::answer::Answer;
use refract_domain::prism::question::{Question, QuestionKind};
use refract_domain::submission::model_input::outcome_text;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::ModelError;
use crate::json::{JsonObject, count, list, nested, string};
use crate::protocols::answers::ReadAnswers;
use crate::protocols::typed_questions::answers::SentAnswer;
use crate::report::coverage::OutcomeCoverage;

/// Reads the answers to these questions.
pub(super) fn read(answers: &RawValue, questions: &[Question]) -> Result<ReadAnswers, ModelError> {
    let sent = list(answers).ok_or(ModelError::NotDecisions)?;
    let mut sent = sent.into_iter();
    let mut coverage = OutcomeCoverage::default();
    let answers = questions.iter().map(|question| {
        let answer = read_answer(question, sent.next(), &mut coverage)?;
        Ok((question.key.clone(), answer))
    });
    Ok(ReadAnswers {
        answers: answers.collect::<Result<_, ModelError>>()?,
        coverage,
    })
}

/// Reads what stands at the place of a question; `None` where the list has ended before.
fn read_answer(
    question: &Question,
    raw: Option<&RawValue>,
    coverage: &mut OutcomeCoverage,
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
    let answer = answer.read(question, "predicate", coverage);
    answer.ok_or_else(unanswered)
}

/// The probabilities of choices by their value. A value that is no text, which the format allows, is
/// none of ours.
fn by_value(sent: Option<&RawValue>) -> Option<JsonObject<'_>> {
    let entries = entries(sent)?.into_iter();
    JsonObject::of(entries.filter_map(|entry| Some((string(entry.value)?, entry.probability))))
}

/// The probabilities of levels by their value, the index of the level. Two levels may have one
/// label, so labels do not tell levels apart. But a label that was sent for another level alone
/// contradicts the value, as where a server counts levels from 1: then no level can be told.
fn by_level<'a>(question: &Question, sent: Option<&'a RawValue>) -> Option<JsonObject<'a>> {
    let labels: Vec<Cow<'_, str>> = question.outcomes().map(outcome_text).collect();
    let levels = entries(sent)?.into_iter().map(|entry| {
        let index = usize::try_from(count(entry.value)?).ok()?;
        let label = entry.label.and_then(string);
        let is_of_another =
            label.is_some_and(|label| labels.contains(&label) && labels.get(index) != Some(&label));
        (!is_of_another).then(|| (Cow::Owned(index.to_string()), entry.probability))
    });
    JsonObject::of(levels.collect::<Option<Vec<_>>>()?)
}

/// The entries of a list of probabilities, none where it was not sent; `None` where an entry has no
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
