//! One stored answer with the outcome that a person marked as right.

use refract_domain::answer::Answer;
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::prism::question::Question;
use thiserror::Error;

/// One stored answer of a question with the outcome that a person marked as right.
#[derive(Clone, Copy, Debug)]
pub struct MarkedAnswer<'a> {
    /// The question, as the version that answered has it.
    pub question: &'a Question,
    /// The stored answer.
    pub answer: &'a Answer,
    /// The right outcome: an option's or a built-in outcome's key, `yes` or `no`, or a level's key.
    pub mark: &'a OutcomeKey,
}

/// Why an answer cannot be set against a mark or against another answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NotComparable {
    /// The question or the answer has another type than the question that is measured.
    #[error("a {found} answer cannot be measured as {expected}")]
    Type {
        /// Name of the type that is measured.
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
    /// The stored answer is an outcome that the version lacks, so it is of another version.
    #[error("the stored answer `{outcome}` is no outcome of question `{question}`")]
    Answer {
        /// The question's key.
        question: QuestionKey,
        /// The answered outcome.
        outcome: OutcomeKey,
    },
    /// The versions that answered have more different outcomes than can be told apart.
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
