//! The sentence of `refract model check` about a long text.

use indicatif::HumanCount;
use refract_service::model::{LongText, LongTextOutcome};

use crate::terminal::widened;

/// What the trial of a long text found, and what to do about it.
pub(super) fn sentence(long_text: &LongText) -> String {
    let tokens = HumanCount(widened(long_text.tokens));
    match &long_text.outcome {
        LongTextOutcome::NotCounted => {
            "The server reports no tokens: a text that it cuts would not be noticed.".to_owned()
        }
        LongTextOutcome::TooSlow(seconds) => format!(
            "A text of about {tokens} tokens was not tried: it would take about {seconds} s."
        ),
        LongTextOutcome::Whole => format!("A text of about {tokens} tokens was read whole."),
        LongTextOutcome::Truncated(read) => format!(
            "The server cuts long texts without an error: it read only {} of about {tokens} \
             tokens. Give it a larger context, as with OLLAMA_CONTEXT_LENGTH of Ollama.",
            HumanCount(*read)
        ),
        LongTextOutcome::Failed(failure) => {
            format!("A text of about {tokens} tokens got no answer: {failure}")
        }
    }
}
