//! What counts as an answer's prediction.

use refract_domain::answer::Answer;
use refract_domain::cutoffs::{Cutoffs, YesNoLabel};
use refract_domain::key::OutcomeKey;
use refract_domain::question::Question;

/// Key of the outcome yes.
const YES: &str = "yes";
/// Key of the outcome no.
const NO: &str = "no";

/// The outcome that an answer predicts: the chosen option, the most probable level, or yes or no by
/// the cutoffs.
///
/// `None` for a choice without a value, for a yes/no that the cutoffs leave unsure, and for an
/// answer of another type than the question.
pub fn predicted(question: &Question, answer: &Answer, cutoffs: Cutoffs) -> Option<OutcomeKey> {
    if question.question_type() != answer.question_type() {
        return None;
    }
    match answer {
        Answer::Choice { value, .. } => value.clone(),
        Answer::Scale { level, .. } => Some(level.clone()),
        Answer::YesNo { probability } => match cutoffs.label(*probability) {
            YesNoLabel::Yes => Some(yes()),
            YesNoLabel::No => Some(no()),
            YesNoLabel::Unsure => None,
        },
    }
}

/// The outcome yes of a Yes / No question, which its marks name.
pub(crate) fn yes() -> OutcomeKey {
    OutcomeKey::derive(YES, |_| false)
}

/// The outcome no of a Yes / No question, which its marks name.
pub(crate) fn no() -> OutcomeKey {
    OutcomeKey::derive(NO, |_| false)
}
