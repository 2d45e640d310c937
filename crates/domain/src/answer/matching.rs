//! Answers from elsewhere, held to the version that is said to have answered.

use crate::answer::{Answer, Answers, Distribution};
use crate::key::{OutcomeKey, QuestionKey};
use crate::prism::{Question, QuestionType};

/// Answers do not belong to the questions of a version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswersMismatch {
    /// A question of the version has no answer.
    #[error("question '{0}' has no answer")]
    Missing(QuestionKey),
    /// An answer is to a question that the version lacks.
    #[error("the answer '{0}' is to no question of the version")]
    Unknown(QuestionKey),
    /// A question has two answers.
    #[error("the answer '{0}' stands twice")]
    Twice(QuestionKey),
    /// An answer has another type than its question.
    #[error("the answer '{question}' is of another type than its question, {}", .expected.name())]
    OtherType {
        /// The question.
        question: QuestionKey,
        /// The type of the question.
        expected: QuestionType,
    },
    /// An outcome of the question has no probability.
    #[error("the answer '{question}' has no probability of '{outcome}'")]
    MissingOutcome {
        /// The question.
        question: QuestionKey,
        /// Key of the outcome that the answer lacks.
        outcome: String,
    },
    /// The answer names an outcome that the question lacks.
    #[error(
        "the answer '{question}' has the outcome '{outcome}', which its question does not have"
    )]
    UnknownOutcome {
        /// The question.
        question: QuestionKey,
        /// The outcome.
        outcome: OutcomeKey,
    },
    /// The answer gives an outcome two probabilities.
    #[error("the answer '{question}' has two probabilities of '{outcome}'")]
    OutcomeTwice {
        /// The question.
        question: QuestionKey,
        /// The outcome.
        outcome: OutcomeKey,
    },
}

impl Answers {
    /// The same answers, in the order of these questions and their outcomes, when they belong to
    /// them: one answer to each question, of its type, with a probability for each outcome.
    ///
    /// Saved answers are so by themselves. Check those that another program kept, since a lens shows an
    /// empty cell where an answer does not belong to its question.
    ///
    /// # Errors
    /// The first answer, question or outcome that does not match. One that the version lacks comes
    /// before one that is missing, which may be the same misspelt.
    pub fn matched_to(self, questions: &[Question]) -> Result<Self, AnswersMismatch> {
        let mut rest = self.0;
        let is_unknown = |key: &QuestionKey| questions.iter().all(|question| question.key != *key);
        if let Some((key, _)) = rest.iter().find(|(key, _)| is_unknown(key)) {
            return Err(AnswersMismatch::Unknown(key.clone()));
        }
        let mut matched = Vec::with_capacity(questions.len());
        for question in questions {
            let place = rest.iter().position(|(key, _)| *key == question.key);
            let place = place.ok_or_else(|| AnswersMismatch::Missing(question.key.clone()))?;
            let (key, answer) = rest.remove(place);
            matched.push((key, matched_answer(answer, question)?));
        }
        match rest.into_iter().next() {
            Some((key, _)) => Err(AnswersMismatch::Twice(key)),
            None => Ok(Self(matched)),
        }
    }
}

fn matched_answer(answer: Answer, question: &Question) -> Result<Answer, AnswersMismatch> {
    let expected = question.question_type();
    if answer.question_type() != expected {
        return Err(AnswersMismatch::OtherType {
            question: question.key.clone(),
            expected,
        });
    }
    Ok(match answer {
        Answer::YesNo { probability } => Answer::YesNo { probability },
        Answer::Choice {
            value,
            probabilities,
            confidence,
        } => Answer::Choice {
            value: value.map(|key| known(key, question)).transpose()?,
            probabilities: matched_outcomes(probabilities, question)?,
            confidence,
        },
        Answer::Scale {
            level,
            probabilities,
        } => Answer::Scale {
            level: known(level, question)?,
            probabilities: matched_outcomes(probabilities, question)?,
        },
    })
}

fn matched_outcomes(
    mut rest: Distribution,
    question: &Question,
) -> Result<Distribution, AnswersMismatch> {
    let is_unknown = |key: &OutcomeKey| question.label_of(key).is_none();
    if let Some((outcome, _)) = rest.iter().find(|(key, _)| is_unknown(key)) {
        return Err(unknown(outcome.clone(), question));
    }
    let mut matched = Distribution::with_capacity(rest.len());
    for outcome in question.outcomes() {
        let place = rest.iter().position(|(key, _)| key.as_str() == outcome.key);
        let place = place.ok_or_else(|| AnswersMismatch::MissingOutcome {
            question: question.key.clone(),
            outcome: outcome.key.to_owned(),
        })?;
        matched.push(rest.remove(place));
    }
    match rest.into_iter().next() {
        Some((outcome, _)) => Err(AnswersMismatch::OutcomeTwice {
            question: question.key.clone(),
            outcome,
        }),
        None => Ok(matched),
    }
}

/// The key, when it is one of the question's outcomes.
fn known(outcome: OutcomeKey, question: &Question) -> Result<OutcomeKey, AnswersMismatch> {
    if question.label_of(&outcome).is_some() {
        Ok(outcome)
    } else {
        Err(unknown(outcome, question))
    }
}

fn unknown(outcome: OutcomeKey, question: &Question) -> AnswersMismatch {
    AnswersMismatch::UnknownOutcome {
        question: question.key.clone(),
        outcome,
    }
}

#[cfg(test)]
mod tests;
