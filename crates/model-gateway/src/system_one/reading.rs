//! Reads System One answers. Every number is the model's own, or the question is unanswered.
//!
//! Keys that were not asked for are ignored, whatever their values are.

use std::borrow::Cow;

use refract_domain::answer::{Answer, Distribution, confidence};
use refract_domain::key::OutcomeKey;
use refract_domain::probability::Probability;
use refract_domain::question::{Question, QuestionKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::answers::{ReadAnswers, answer_each};
use crate::coverage::OutcomeCoverage;
use crate::failure::ModelFailure;
use crate::json::{JsonObject, count, is_error, nested, number, object, string};
use crate::report::ReportedUsage;

/// The body of an answer.
pub(crate) struct SystemOneReply<'a> {
    answers: JsonObject<'a>,
    pub(crate) usage: ReportedUsage,
}

/// Reads the body of an answer with status 200.
pub(crate) fn read(body: &[u8]) -> Result<SystemOneReply<'_>, ModelFailure> {
    let reply: SystemOneJson<'_> = object(body).ok_or(ModelFailure::NotSystemOne)?;
    if reply.error.is_some_and(is_error) {
        return Err(ModelFailure::ReportedError);
    }
    let answers: JsonObject<'_> = reply
        .answers
        .and_then(nested)
        .ok_or(ModelFailure::NotSystemOne)?;
    let usage: SystemOneUsageJson<'_> = reply.usage.and_then(nested).unwrap_or_default();
    let sent_usage = ReportedUsage {
        model: reply.model.and_then(string).map(Cow::into_owned),
        input_tokens: usage.input_tokens.and_then(count),
        output_tokens: usage.output_tokens.and_then(count),
    };
    Ok(SystemOneReply {
        answers,
        usage: sent_usage,
    })
}

impl SystemOneReply<'_> {
    /// Reads the answers to these questions.
    pub(crate) fn read_answers(&self, questions: &[Question]) -> Result<ReadAnswers, ModelFailure> {
        let mut coverage = OutcomeCoverage::default();
        let answers = answer_each(questions, |question| {
            let raw = self.answers.get(question.key.as_str())?;
            read_answer(question, raw, &mut coverage)
        })?;
        Ok(ReadAnswers { answers, coverage })
    }
}

fn read_answer(
    question: &Question,
    raw: &RawValue,
    coverage: &mut OutcomeCoverage,
) -> Option<Answer> {
    let json: SystemOneAnswerJson<'_> = nested(raw)?;
    let kind = json.kind.and_then(string)?;
    match (&question.kind, kind.as_ref()) {
        (QuestionKind::Choice { .. }, "choice") => read_choice(question, &json, coverage),
        (QuestionKind::YesNo, "noul") => {
            let probability = json.noul.and_then(probability)?;
            coverage.outcomes += 2;
            coverage.listed += 2;
            Some(Answer::YesNo { probability })
        }
        (QuestionKind::Scale { .. }, "score") => read_score(question, &json, coverage),
        (QuestionKind::Choice { .. } | QuestionKind::YesNo | QuestionKind::Scale { .. }, _) => None,
    }
}

/// Reads a choice. A name that the prism lacks is a value of null; an answer without a name is none.
fn read_choice(
    question: &Question,
    json: &SystemOneAnswerJson<'_>,
    coverage: &mut OutcomeCoverage,
) -> Option<Answer> {
    let named = json.choice.and_then(string)?;
    let sent = probabilities(json)?;
    let mut distribution = Distribution::new();
    for outcome in question.outcomes() {
        let probability = one_of(&sent, outcome.key, coverage)?;
        distribution.push((OutcomeKey::parse(outcome.key).ok()?, probability));
    }
    let chosen = distribution.iter().find(|(key, _)| key.as_str() == named);
    if chosen.is_some() && is_all_zero(&distribution) {
        return None;
    }
    let confidence = match (json.confidence, chosen) {
        (Some(raw), _) => probability(raw)?,
        (None, Some((_, chosen))) => {
            confidence(chosen.to_f64(), u32::try_from(distribution.len()).ok()?)
        }
        (None, None) => Probability::ZERO,
    };
    let value = chosen.map(|(key, _)| key.clone());
    Some(Answer::Choice {
        value,
        probabilities: distribution,
        confidence,
    })
}

/// Reads a score. Levels are keyed by their index. The level is read from the probabilities, not from
/// `score`.
fn read_score(
    question: &Question,
    json: &SystemOneAnswerJson<'_>,
    coverage: &mut OutcomeCoverage,
) -> Option<Answer> {
    let sent = probabilities(json)?;
    let mut distribution = Distribution::new();
    for (index, level) in question.own_outcomes().iter().enumerate() {
        let index = index.to_string();
        let probability = one_of(&sent, &index, coverage)?;
        distribution.push((level.key.clone(), probability));
    }
    if is_all_zero(&distribution) {
        return None;
    }
    Answer::scale(distribution)
}

/// The probability of an outcome; 0 where the server sent none.
fn one_of(
    sent: &JsonObject<'_>,
    name: &str,
    coverage: &mut OutcomeCoverage,
) -> Option<Probability> {
    coverage.outcomes += 1;
    let Some(raw) = sent.get(name) else {
        return Some(Probability::ZERO);
    };
    coverage.listed += 1;
    probability(raw)
}

fn is_all_zero(distribution: &Distribution) -> bool {
    distribution
        .iter()
        .all(|(_, probability)| *probability == Probability::ZERO)
}

fn probabilities<'a>(json: &SystemOneAnswerJson<'a>) -> Option<JsonObject<'a>> {
    match json.probabilities {
        Some(raw) => nested(raw),
        None => Some(JsonObject::default()),
    }
}

fn probability(raw: &RawValue) -> Option<Probability> {
    Probability::from_f64(number(raw)?)
}

#[derive(Deserialize)]
struct SystemOneJson<'a> {
    #[serde(borrow)]
    answers: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    model: Option<&'a RawValue>,
    #[serde(borrow)]
    usage: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct SystemOneUsageJson<'a> {
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
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
