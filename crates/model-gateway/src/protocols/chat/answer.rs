//! Makes the answer to a question from the probabilities of its codes.

use refract_domain::answer::Answer;
use refract_domain::prism::question::{Question, QuestionKind};

use super::code_probabilities::CodeProbabilities;
use crate::protocols::answers;

/// Minimum probability on a question's codes; below it the question is unanswered (readings).
pub(super) const LEAST_MASS: f64 = 0.05;

/// The answer for these probabilities of codes; `None` if the question is unanswered.
pub(super) fn answer(question: &Question, mut probabilities: CodeProbabilities) -> Option<Answer> {
    let outcomes = probabilities.outcomes;
    probabilities.split_rest();
    let codes = probabilities.codes.get(..outcomes)?;
    let has_mass = probabilities.mass >= LEAST_MASS && codes.iter().sum::<f64>() >= LEAST_MASS;
    let is_unknown = probabilities.writes_no_outcome();
    match question.kind {
        QuestionKind::Choice { .. } if is_unknown => answers::without_value(question, codes),
        QuestionKind::Scale { .. } if is_unknown => None,
        QuestionKind::YesNo | QuestionKind::Scale { .. } | QuestionKind::Choice { .. } => has_mass
            .then(|| answers::from_weights(question, codes))
            .flatten(),
    }
}
