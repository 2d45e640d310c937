//! Reads one typed answer. Every number comes from the model, or the question is unanswered.

use refract_domain::answer::probability::Probability;
use refract_domain::answer::{Answer, Distribution};
use refract_domain::key::OutcomeKey;
use refract_domain::prism::question::{Question, QuestionKind};
use serde_json::value::RawValue;

use crate::json::{JsonObject, number, string};
use crate::protocols::answers;
use crate::report::parsed::ParsedOutcomes;

/// How far outside of 0 to 1 a probability may lie.
const ROUNDING_ERROR: f64 = 0.000_001;

/// An answer from the server. Missing members are `None`.
pub(crate) struct SentAnswer<'a> {
    /// The type of the answer.
    pub(crate) kind: &'a str,
    /// The name of the chosen outcome.
    pub(crate) choice: Option<&'a RawValue>,
    /// The probability of yes.
    pub(crate) yes: Option<&'a RawValue>,
    pub(crate) confidence: Option<&'a RawValue>,
    /// Probabilities by the name of the outcome or the index of the level; `None` if they are
    /// unreadable.
    pub(crate) probabilities: Option<JsonObject<'a>>,
}

impl SentAnswer<'_> {
    /// Reads the answer to a question. `yes_no` is the format's type of answers to Yes / No
    /// questions.
    pub(crate) fn read(
        &self,
        question: &Question,
        yes_no: &str,
        parsed: &mut ParsedOutcomes,
    ) -> Option<Answer> {
        match question.kind {
            QuestionKind::Choice { .. } if self.kind == "choice" => self.choice(question, parsed),
            QuestionKind::YesNo if self.kind == yes_no => {
                let probability = probability(self.yes?)?;
                parsed.outcomes += 2;
                parsed.listed += 2;
                Some(Answer::YesNo { probability })
            }
            QuestionKind::Scale { .. } if self.kind == "score" => self.scale(question, parsed),
            QuestionKind::Choice { .. } | QuestionKind::YesNo | QuestionKind::Scale { .. } => None,
        }
    }

    /// Reads a choice. If the prism lacks the chosen name, the answer's value is null; without a
    /// name there is no answer.
    fn choice(&self, question: &Question, parsed: &mut ParsedOutcomes) -> Option<Answer> {
        let named = string(self.choice?)?;
        let mut distribution = Distribution::new();
        for outcome in question.outcomes() {
            let probability = self.one_of(outcome.key, parsed)?;
            distribution.push((OutcomeKey::parse(outcome.key).ok()?, probability));
        }
        let mut keys = distribution.iter().map(|(key, _)| key);
        let value = keys.find(|key| key.as_str() == named).cloned();
        if value.is_some() && is_all_zero(&distribution) {
            return None;
        }
        // a number outside 0 to 1 is another measure than ours
        let confidence = self.confidence.and_then(probability);
        answers::choice(value, distribution, confidence)
    }

    /// Reads the probabilities of levels, keyed by the level's index. They determine the level; a
    /// score from the server does not.
    fn scale(&self, question: &Question, parsed: &mut ParsedOutcomes) -> Option<Answer> {
        let mut distribution = Distribution::new();
        for (index, level) in question.own_outcomes().iter().enumerate() {
            let probability = self.one_of(&index.to_string(), parsed)?;
            distribution.push((level.key.clone(), probability));
        }
        if is_all_zero(&distribution) {
            return None;
        }
        Answer::scale(distribution)
    }

    /// The probability of an outcome; 0 if the server sent none.
    fn one_of(&self, name: &str, parsed: &mut ParsedOutcomes) -> Option<Probability> {
        parsed.outcomes += 1;
        let Some(raw) = self.probabilities.as_ref()?.get(name) else {
            return Some(Probability::ZERO);
        };
        parsed.listed += 1;
        probability(raw)
    }
}

fn is_all_zero(distribution: &Distribution) -> bool {
    distribution
        .iter()
        .all(|(_, probability)| *probability == Probability::ZERO)
}

/// Reads a probability. A rounding error of a server is rounded into 0 to 1 (readings).
fn probability(raw: &RawValue) -> Option<Probability> {
    let number = number(raw)?;
    let is_near = (-ROUNDING_ERROR..=1.0 + ROUNDING_ERROR).contains(&number);
    Probability::from_f64(if is_near {
        number.clamp(0.0, 1.0)
    } else {
        number
    })
}
