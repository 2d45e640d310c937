//! The drift of one question's answers.

use refract_domain::lens::cutoffs::Cutoffs;
use refract_domain::prism::question::{Question, QuestionType};

use crate::drift::answer_tally::AnswerTally;
use crate::drift::outcome_share::{OutcomeShare, outcome_shares};
use crate::drift::probability_drift::ProbabilityDrift;

/// The answers to one question in a window, compared with those in another window.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionDrift {
    /// Number of answers in the window.
    pub now: u64,
    /// Number of answers in the window that it is compared with.
    pub before: u64,
    /// The share of each outcome, in the question's order. Choices of an unknown option count in no
    /// share, but among the answers.
    pub shares: Vec<OutcomeShare>,
    /// The distribution of probabilities; `None` if a window has no answers.
    pub probabilities: Option<ProbabilityDrift>,
}

impl QuestionDrift {
    /// Compares the answers of two windows. The cutoffs label the answers to a Yes / No in both.
    pub fn between(
        question: &Question,
        cutoffs: Cutoffs,
        now: &AnswerTally,
        before: &AnswerTally,
    ) -> Self {
        let is_percent = question.question_type() == QuestionType::YesNo;
        Self {
            now: now.answers(),
            before: before.answers(),
            shares: outcome_shares(question, cutoffs, now, before),
            probabilities: ProbabilityDrift::between(now, before, is_percent),
        }
    }

    /// Whether both windows have answers.
    pub fn is_comparable(&self) -> bool {
        self.now > 0 && self.before > 0
    }
}
