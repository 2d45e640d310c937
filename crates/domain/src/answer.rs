//! Stored answers: a model's answer to each question, with its probabilities (spec 2.4).

pub mod matching;
pub mod probability;

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_with::{As, Map, Same};

use crate::answer::probability::ONE;
use crate::key::{OutcomeKey, QuestionKey};
use crate::lens::YesNoLabel;
use crate::prism::QuestionType;

pub use self::matching::AnswersMismatch;
pub use self::probability::{Decimal, Probability};

/// Probabilities of a question's outcomes, in the prism's order.
///
/// A list of pairs and no `IndexMap`: hashing made reading stored answers up to a third slower, and
/// rendering rows that are not in the processor's cache slower too.
pub type Distribution = Vec<(OutcomeKey, Probability)>;

/// A model's answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", try_from = "AnswerJson")]
pub enum Answer {
    /// Answer to a Choice question.
    Choice {
        /// The chosen outcome; `None` when the model named an option that the prism does not have.
        value: Option<OutcomeKey>,
        /// Probabilities of every option and of the two built-in outcomes.
        #[serde(with = "As::<Map<Same, Same>>")]
        probabilities: Distribution,
        /// The model's confidence in the choice, 0 to 1.
        confidence: Probability,
    },
    /// Answer to a Yes / No question.
    YesNo {
        /// Probability of yes.
        probability: Probability,
    },
    /// Answer to a Scale question.
    Scale {
        /// The most probable level; on a tie the lower one.
        level: OutcomeKey,
        /// Probabilities of every level, lowest first.
        #[serde(with = "As::<Map<Same, Same>>")]
        probabilities: Distribution,
    },
}

/// A saved answer in its JSON form. It is deserialised flat: for a tagged enum, serde buffers every
/// value until it has read the tag.
#[derive(Deserialize)]
struct AnswerJson {
    #[serde(rename = "type")]
    question_type: QuestionType,
    value: Option<OutcomeKey>,
    #[serde(default, with = "As::<Option<Map<Same, Same>>>")]
    probabilities: Option<Distribution>,
    confidence: Option<Probability>,
    probability: Option<Probability>,
    level: Option<OutcomeKey>,
}

/// A saved answer lacks a value that its type requires.
#[derive(Debug, thiserror::Error)]
#[error("an answer lacks {0}")]
struct AnswerLacks(&'static str);

impl TryFrom<AnswerJson> for Answer {
    type Error = AnswerLacks;

    fn try_from(json: AnswerJson) -> Result<Self, AnswerLacks> {
        let probabilities = json.probabilities.ok_or(AnswerLacks("probabilities"));
        Ok(match json.question_type {
            QuestionType::Choice => Self::Choice {
                value: json.value,
                probabilities: probabilities?,
                confidence: json.confidence.ok_or(AnswerLacks("confidence"))?,
            },
            QuestionType::YesNo => Self::YesNo {
                probability: json.probability.ok_or(AnswerLacks("probability"))?,
            },
            QuestionType::Scale => Self::Scale {
                level: json.level.ok_or(AnswerLacks("level"))?,
                probabilities: probabilities?,
            },
        })
    }
}

impl Answer {
    /// The type of question that this answer belongs to.
    pub fn question_type(&self) -> QuestionType {
        match self {
            Self::Choice { .. } => QuestionType::Choice,
            Self::YesNo { .. } => QuestionType::YesNo,
            Self::Scale { .. } => QuestionType::Scale,
        }
    }

    /// The probability of an outcome (`yes` or `no` for a Yes / No); `None` when the answer has no
    /// such outcome.
    pub fn probability_of(&self, outcome: &OutcomeKey) -> Option<Probability> {
        match self {
            Self::Choice { probabilities, .. } | Self::Scale { probabilities, .. } => {
                let mut outcomes = probabilities.iter();
                outcomes.find_map(|(key, probability)| (key == outcome).then_some(*probability))
            }
            Self::YesNo { probability } if outcome.as_str() == YesNoLabel::Yes.key() => {
                Some(*probability)
            }
            Self::YesNo { probability } if outcome.as_str() == YesNoLabel::No.key() => {
                Probability::from_millionths(ONE - probability.millionths())
            }
            Self::YesNo { .. } => None,
        }
    }

    /// The answer to a Scale question whose levels have these probabilities, lowest level first;
    /// `None` without levels.
    pub fn scale(probabilities: Distribution) -> Option<Self> {
        let level = most_probable(&probabilities)?.clone();
        Some(Self::Scale {
            level,
            probabilities,
        })
    }
}

/// The outcome with the highest probability; on a tie the first.
pub fn most_probable(probabilities: &[(OutcomeKey, Probability)]) -> Option<&OutcomeKey> {
    let mut best: Option<&(OutcomeKey, Probability)> = None;
    for candidate in probabilities {
        if best.is_none_or(|best| candidate.1 > best.1) {
            best = Some(candidate);
        }
    }
    best.map(|(key, _)| key)
}

/// Confidence in an outcome chosen out of `outcomes`, from its probability: 0 is a guess, 1 is
/// certain (readings).
///
/// `(p − 1/k) / (1 − 1/k)`, at least 0; for the more probable answer of a Yes / No that is `|2p − 1|`.
/// It stands for the confidence of a server that reports none. Since every server's own confidence
/// is another measure, rows are also ordered by this one: 0.9 then means the same everywhere.
pub fn confidence(chosen: f64, outcomes: u32) -> Probability {
    let guess = 1.0 / f64::from(outcomes.max(2));
    Probability::from_f64(((chosen - guess) / (1.0 - guess)).clamp(0.0, 1.0)).unwrap_or_default()
}

/// The answers of one result, in the order of the version's questions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Answers(#[serde(with = "As::<Map<Same, Same>>")] Vec<(QuestionKey, Answer)>);

impl Answers {
    /// Answers in the order of the version's questions, one for each.
    pub fn new(answers: Vec<(QuestionKey, Answer)>) -> Self {
        Self(answers)
    }

    /// Keys and answers in order.
    pub fn as_slice(&self) -> &[(QuestionKey, Answer)] {
        &self.0
    }

    /// The answer to a question.
    pub fn get(&self, question: &QuestionKey) -> Option<&Answer> {
        self.0
            .iter()
            .find(|(key, _)| key == question)
            .map(|(_, answer)| answer)
    }
}

/// Reads the answer to one question from stored answers, without making the others; `None` if there
/// is none.
pub struct AnswerTo<'a>(pub &'a QuestionKey);

impl<'de> DeserializeSeed<'de> for AnswerTo<'_> {
    type Value = Option<Answer>;

    fn deserialize<D: Deserializer<'de>>(self, json: D) -> Result<Self::Value, D::Error> {
        json.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for AnswerTo<'_> {
    type Value = Option<Answer>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("answers by question")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut answers: A) -> Result<Self::Value, A::Error> {
        let mut found = None;
        while let Some(key) = answers.next_key::<Cow<'de, str>>()? {
            if key == self.0.as_str() {
                found = Some(answers.next_value()?);
            } else {
                answers.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_saved_in_the_form_and_order_of_the_specification() {
        let json = concat!(
            r#"{"topic":{"type":"choice","value":"b","probabilities":{"b":0.9,"a":0.1},"confidence":0.8},"#,
            r#""none":{"type":"choice","value":null,"probabilities":{"a":0.000001},"confidence":0.0},"#,
            r#""angry":{"type":"yes_no","probability":0.25},"#,
            r#""urgency":{"type":"scale","level":"low","probabilities":{"low":1.0,"high":0.0}}}"#
        );
        let answers: Answers = serde_json::from_str(json).unwrap();
        let again = serde_json::to_string(&answers).unwrap();
        assert_eq!(serde_json::from_str::<Answers>(&again).unwrap(), answers);
        assert_eq!(again, json.replace("0.000001", "1e-6"));
        let angry = QuestionKey::parse("angry").unwrap();
        assert_eq!(
            answers.get(&angry).unwrap().question_type(),
            QuestionType::YesNo
        );
    }

    #[test]
    fn an_answer_without_a_part_of_its_type_is_unreadable() {
        let refused = |answer: &str| {
            let refused = serde_json::from_str::<Answer>(answer).unwrap_err();
            refused.to_string()
        };
        let lacking = [
            (
                r#"{"type":"choice","value":null,"confidence":0.5}"#,
                "probabilities",
            ),
            (
                r#"{"type":"choice","value":null,"probabilities":{}}"#,
                "confidence",
            ),
            (r#"{"type":"yes_no","confidence":0.5}"#, "probability"),
            (r#"{"type":"scale","probabilities":{"low":1.0}}"#, "level"),
            (r#"{"type":"scale","level":"low"}"#, "probabilities"),
        ];
        for (answer, part) in lacking {
            assert!(refused(answer).contains(&format!("an answer lacks {part}")));
        }
        assert!(refused(r#"{"probability":0.5}"#).contains("missing field `type`"));
        assert!(refused(r#"{"type":"noul","probability":0.5}"#).contains("unknown variant"));
    }

    #[test]
    fn the_probability_of_no_is_what_yes_leaves() {
        let of = |answer: &str, outcome: &str| {
            let answer: Answer = serde_json::from_str(answer).unwrap();
            let found = answer.probability_of(&OutcomeKey::parse(outcome).unwrap());
            found.map(Probability::millionths)
        };
        let angry = r#"{"type":"yes_no","probability":0.25}"#;
        assert_eq!(of(angry, "yes"), Some(250_000));
        assert_eq!(of(angry, "no"), Some(750_000));
        assert_eq!(of(angry, "unsure"), None);
        let level = r#"{"type":"scale","level":"low","probabilities":{"low":0.9,"high":0.1}}"#;
        assert_eq!(of(level, "high"), Some(100_000));
        assert_eq!(of(level, "yes"), None);
    }

    #[test]
    fn confidence_is_0_for_a_guess_and_1_for_certainty() {
        assert_eq!(confidence(0.25, 4), Probability::ZERO);
        assert_eq!(confidence(0.1, 4), Probability::ZERO);
        assert_eq!(confidence(1.0, 4), Probability::CERTAIN);
        assert_eq!(confidence(0.625, 4), Probability::from_f64(0.5).unwrap());
    }
}
