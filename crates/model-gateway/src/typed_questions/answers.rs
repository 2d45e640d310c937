//! Reads one typed answer. Every number is the model's own, or the question is unanswered.

use refract_domain::answer::{Answer, Distribution, confidence};
use refract_domain::key::OutcomeKey;
use refract_domain::probability::Probability;
use refract_domain::question::Question;
use serde_json::value::RawValue;

use crate::coverage::OutcomeCoverage;
use crate::json::{JsonObject, number};

/// The answer to a Choice question as it was sent.
pub(crate) struct SentChoice<'a> {
    /// The name of the chosen outcome.
    pub(crate) named: &'a str,
    /// `None` where none was sent.
    pub(crate) confidence: Option<&'a RawValue>,
    /// Probabilities by the name of the outcome.
    pub(crate) probabilities: JsonObject<'a>,
}

/// Reads a choice. A name that the prism lacks is a value of null.
pub(crate) fn choice(
    question: &Question,
    sent: &SentChoice<'_>,
    coverage: &mut OutcomeCoverage,
) -> Option<Answer> {
    let mut distribution = Distribution::new();
    for outcome in question.outcomes() {
        let probability = one_of(&sent.probabilities, outcome.key, coverage)?;
        distribution.push((OutcomeKey::parse(outcome.key).ok()?, probability));
    }
    let chosen = distribution
        .iter()
        .find(|(key, _)| key.as_str() == sent.named);
    if chosen.is_some() && is_all_zero(&distribution) {
        return None;
    }
    let confidence = match (sent.confidence, chosen) {
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

/// Reads the probability of yes.
pub(crate) fn yes_no(sent: Option<&RawValue>, coverage: &mut OutcomeCoverage) -> Option<Answer> {
    let probability = sent.and_then(probability)?;
    coverage.outcomes += 2;
    coverage.listed += 2;
    Some(Answer::YesNo { probability })
}

/// Reads the probabilities of levels, keyed by the index of the level. The level is read from the
/// probabilities, not from a score.
pub(crate) fn scale(
    question: &Question,
    sent: &JsonObject<'_>,
    coverage: &mut OutcomeCoverage,
) -> Option<Answer> {
    let mut distribution = Distribution::new();
    for (index, level) in question.own_outcomes().iter().enumerate() {
        let index = index.to_string();
        let probability = one_of(sent, &index, coverage)?;
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

fn probability(raw: &RawValue) -> Option<Probability> {
    Probability::from_f64(number(raw)?)
}
