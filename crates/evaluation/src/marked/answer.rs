//! One stored answer with its mark.

use refract_domain::answer::Answer;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::question::Question;
use thiserror::Error;

/// One stored answer to a question, with the outcome that a person marked as correct.
#[derive(Clone, Copy, Debug)]
pub struct MarkedAnswer<'a> {
    /// The question in the version that answered.
    pub question: &'a Question,
    /// The stored answer.
    pub answer: &'a Answer,
    /// The correct outcome: an option's or a built-in outcome's key, `yes` or `no`, or a level's
    /// key.
    pub mark: &'a OutcomeKey,
    /// The model that its server reported; `None` if it reported none, or if all answers are taken
    /// for those of one model.
    pub model: Option<&'a str>,
}

/// Why an answer cannot be compared with a mark or with another answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotComparable {
    /// The question or the answer has another type than the measured question.
    #[error("a {found} answer cannot be measured as {expected}")]
    Type {
        /// Name of the measured question's type.
        expected: &'static str,
        /// Name of the answer's or the question's type.
        found: &'static str,
    },
    /// The version that answered has no such outcome.
    #[error("the version that answered has no outcome `{mark}` of question `{question}`")]
    Mark {
        /// The question's key.
        question: QuestionKey,
        /// The marked outcome.
        mark: OutcomeKey,
    },
    /// The version lacks the answered outcome, so the answer is from another version.
    #[error("the stored answer `{outcome}` is no outcome of question `{question}`")]
    Answer {
        /// The question's key.
        question: QuestionKey,
        /// The answered outcome.
        outcome: OutcomeKey,
    },
    /// The versions that answered have more different outcomes than an index can number.
    #[error("the versions that answered have over 65536 different outcomes: choose one version")]
    TooManyOutcomes,
}

impl NotComparable {
    pub(crate) fn mark(question: &Question, mark: &OutcomeKey) -> Self {
        Self::Mark {
            question: question.key.clone(),
            mark: mark.clone(),
        }
    }

    pub(crate) fn answer(question: &Question, outcome: &OutcomeKey) -> Self {
        Self::Answer {
            question: question.key.clone(),
            outcome: outcome.clone(),
        }
    }
}
