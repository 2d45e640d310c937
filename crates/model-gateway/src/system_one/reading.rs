//! Reads System One answers with care: every number is the model's own or the question is
//! unanswered.
//!
//! Keys that nobody asked for are ignored, whatever they hold.

use std::borrow::Cow;

use refract_domain::answer::{Answer, Distribution, confidence};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::probability::Probability;
use refract_domain::question::{Question, QuestionKind};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::failure::ModelFailure;
use crate::json::{Keyed, count, is_error, number, object, string};
use crate::meter::Told;
use crate::seen::Seen;

/// What one answer said.
pub(crate) struct Reply<'a> {
    answers: Keyed<'a>,
    pub(crate) told: Told,
}

/// Reads the body of an answer with status 200.
pub(crate) fn read(body: &[u8]) -> Result<Reply<'_>, ModelFailure> {
    let reply: ReplyJson<'_> = object(body).ok_or(ModelFailure::NotSystemOne)?;
    if reply.error.is_some_and(is_error) {
        return Err(ModelFailure::ReportedError);
    }
    let answers: Keyed<'_> = reply
        .answers
        .and_then(|raw| object(raw.get().as_bytes()))
        .ok_or(ModelFailure::NotSystemOne)?;
    let usage: UsageJson<'_> = reply
        .usage
        .and_then(|raw| object(raw.get().as_bytes()))
        .unwrap_or_default();
    let told = Told {
        model: reply.model.and_then(string).map(Cow::into_owned),
        input_tokens: usage.input_tokens.and_then(count),
        output_tokens: usage.output_tokens.and_then(count),
    };
    Ok(Reply { answers, told })
}

impl Reply<'_> {
    /// The answers to these questions, in their order, and what was shown of their outcomes.
    pub(crate) fn answers_to(
        &self,
        questions: &[Question],
    ) -> Result<(Vec<(QuestionKey, Answer)>, Seen), ModelFailure> {
        let mut seen = Seen::default();
        let mut answers = Vec::with_capacity(questions.len());
        for question in questions {
            let answer = self
                .answers
                .get(question.key.as_str())
                .and_then(|raw| read_answer(question, raw, &mut seen))
                .ok_or_else(|| ModelFailure::Unanswered(question.key.clone()))?;
            answers.push((question.key.clone(), answer));
        }
        Ok((answers, seen))
    }
}

fn read_answer(question: &Question, raw: &RawValue, seen: &mut Seen) -> Option<Answer> {
    let json: AnswerJson<'_> = object(raw.get().as_bytes())?;
    let kind = json.kind.and_then(string)?;
    match (&question.kind, kind.as_ref()) {
        (QuestionKind::Choice { .. }, "choice") => read_choice(question, &json, seen),
        (QuestionKind::YesNo, "noul") => {
            let probability = json.noul.and_then(probability)?;
            seen.outcomes += 2;
            seen.shown += 2;
            Some(Answer::YesNo { probability })
        }
        (QuestionKind::Scale { .. }, "score") => read_score(question, &json, seen),
        (QuestionKind::Choice { .. } | QuestionKind::YesNo | QuestionKind::Scale { .. }, _) => None,
    }
}

/// A name that the prism lacks is a value of null; without any name it is no answer.
fn read_choice(question: &Question, json: &AnswerJson<'_>, seen: &mut Seen) -> Option<Answer> {
    let named = json.choice.and_then(string)?;
    let sent = probabilities(json)?;
    let mut distribution = Distribution::new();
    for outcome in question.outcomes() {
        let probability = one_of(&sent, outcome.key, seen)?;
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

/// Levels are keyed by their index. The level is read from the probabilities, not from `score`.
fn read_score(question: &Question, json: &AnswerJson<'_>, seen: &mut Seen) -> Option<Answer> {
    let sent = probabilities(json)?;
    let mut distribution = Distribution::new();
    for (index, level) in question.own_outcomes().iter().enumerate() {
        let index = index.to_string();
        let probability = one_of(&sent, &index, seen)?;
        distribution.push((level.key.clone(), probability));
    }
    if is_all_zero(&distribution) {
        return None;
    }
    Answer::scale(distribution)
}

/// The probability of an outcome: 0 where the server sent none.
fn one_of(sent: &Keyed<'_>, name: &str, seen: &mut Seen) -> Option<Probability> {
    seen.outcomes += 1;
    let Some(raw) = sent.get(name) else {
        return Some(Probability::ZERO);
    };
    seen.shown += 1;
    probability(raw)
}

fn is_all_zero(distribution: &Distribution) -> bool {
    distribution
        .iter()
        .all(|(_, probability)| *probability == Probability::ZERO)
}

fn probabilities<'a>(json: &AnswerJson<'a>) -> Option<Keyed<'a>> {
    match json.probabilities {
        Some(raw) => object(raw.get().as_bytes()),
        None => Some(Keyed::default()),
    }
}

fn probability(raw: &RawValue) -> Option<Probability> {
    Probability::from_f64(number(raw)?)
}

#[derive(Deserialize)]
struct ReplyJson<'a> {
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
struct UsageJson<'a> {
    #[serde(borrow)]
    input_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    output_tokens: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct AnswerJson<'a> {
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
