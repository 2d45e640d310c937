//! The token estimate: whether a text is too large to be asked about (spec 8).

use crate::asking::{State, json_chars};
use crate::limits::{CHARS_PER_TOKEN, TOKEN_BUDGET};
use crate::prism::Definition;
use crate::submission::Submission;

/// Characters of `{"state":` `,"question":` `}` around the two parts.
const FRAME_CHARS: usize = r#"{"state":,"question":}"#.len();

/// The estimate is over the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "Request too large: about {estimate} tokens of fields, context and the longest question, \
     the limit is {TOKEN_BUDGET}"
)]
pub struct OverBudget {
    /// Estimated tokens.
    pub estimate: usize,
}

/// Estimated tokens of the text with its longest question: four characters of JSON a token.
pub fn estimate(definition: &Definition, submission: &Submission) -> usize {
    let state = json_chars(&State {
        definition,
        submission,
    });
    (FRAME_CHARS + state + definition.longest_question_chars()).div_ceil(CHARS_PER_TOKEN)
}

/// Checks the estimate against the budget.
///
/// # Errors
/// The estimate, when it is over.
pub fn check(definition: &Definition, submission: &Submission) -> Result<(), OverBudget> {
    let estimate = estimate(definition, submission);
    if estimate > TOKEN_BUDGET {
        Err(OverBudget { estimate })
    } else {
        Ok(())
    }
}
