//! From probabilities of codes to the answer of a question.

use refract_domain::answer::{Answer, Distribution, confidence, most_probable};
use refract_domain::key::OutcomeKey;
use refract_domain::probability::Probability;
use refract_domain::question::{Question, QuestionKind};

use super::reading::{Reading, codes_of};
use crate::shares;

/// With less than this of the whole probability on the codes there is no answer (readings).
const LEAST: f64 = 0.05;

/// The answer that a reading is; `None` where it is none.
pub(super) fn answer(question: &Question, mut reading: Reading) -> Option<Answer> {
    let outcomes = match question.kind {
        QuestionKind::YesNo => 2,
        QuestionKind::Choice { .. } | QuestionKind::Scale { .. } => question.outcomes().count(),
    };
    for letter in 0..reading.letters.len() {
        let codes = codes_of(letter, outcomes);
        let even = 1.0 / f64::from(u32::try_from(codes.max(1)).ok()?);
        reading.resolve(letter, &vec![even; codes]);
    }
    let codes = reading.codes.get(..outcomes)?;
    let is_seen = reading.seen >= LEAST && codes.iter().sum::<f64>() >= LEAST;
    let is_unknown = reading.written.is_some_and(|code| code >= outcomes);
    let shares = shares::of(codes);
    match question.kind {
        QuestionKind::YesNo if is_seen => Some(Answer::YesNo {
            probability: *shares.first()?,
        }),
        QuestionKind::Scale { .. } if is_seen && !is_unknown => {
            Answer::scale(distribution(question, shares)?)
        }
        QuestionKind::Choice { .. } if is_unknown => Some(Answer::Choice {
            value: None,
            probabilities: distribution(question, shares)?,
            confidence: Probability::ZERO,
        }),
        QuestionKind::Choice { .. } if is_seen => choice(distribution(question, shares)?),
        QuestionKind::YesNo | QuestionKind::Scale { .. } | QuestionKind::Choice { .. } => None,
    }
}

/// The answer to a Choice question whose outcomes have these probabilities, in its order.
pub(crate) fn choice(probabilities: Distribution) -> Option<Answer> {
    let value = most_probable(&probabilities)?.clone();
    let (_, chosen) = probabilities.iter().find(|(key, _)| *key == value)?;
    let confidence = confidence(chosen.to_f64(), u32::try_from(probabilities.len()).ok()?);
    Some(Answer::Choice {
        value: Some(value),
        probabilities,
        confidence,
    })
}

/// Keys and probabilities of a question's outcomes, in order.
pub(crate) fn distribution(question: &Question, shares: Vec<Probability>) -> Option<Distribution> {
    let keys = question
        .outcomes()
        .map(|outcome| OutcomeKey::parse(outcome.key).ok());
    keys.zip(shares)
        .map(|(key, share)| Some((key?, share)))
        .collect()
}
