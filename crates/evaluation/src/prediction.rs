//! The outcome that an answer predicts.

use refract_domain::answer::Answer;
use refract_domain::key::OutcomeKey;
use refract_domain::lens::cutoffs::{Cutoffs, YesNoLabel};
use refract_domain::prism::question::Question;

/// The outcome that an answer predicts: the chosen option, the most probable level, or yes or no
/// according to the cutoffs.
///
/// `None` for a choice without a value, for a Yes / No whose label is unsure, and for an answer of
/// another type than the question's.
pub fn predicted(question: &Question, answer: &Answer, cutoffs: Cutoffs) -> Option<OutcomeKey> {
    if question.question_type() != answer.question_type() {
        return None;
    }
    match answer {
        Answer::Choice { value, .. } => value.clone(),
        Answer::Scale { level, .. } => Some(level.clone()),
        Answer::YesNo { probability } => outcome_of(cutoffs.label(*probability)),
    }
}

/// The outcome for a label of a Yes / No question; `None` for unsure, which is not an outcome.
pub(crate) fn outcome_of(label: YesNoLabel) -> Option<OutcomeKey> {
    match label {
        YesNoLabel::Yes | YesNoLabel::No => OutcomeKey::parse(label.key()).ok(),
        YesNoLabel::Unsure => None,
    }
}
