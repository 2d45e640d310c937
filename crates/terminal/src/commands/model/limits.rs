//! How much a server takes, in sentences, and what it says itself about a failure.

use indicatif::HumanCount;
use refract_service::model::{
    FailedTrial, LongText, LongTextOutcome, ModelSettings, ModelTrials, ServerMessage, SizeUnit,
    TakenSize,
};

use crate::terminal::widened;

/// One sentence for what the server takes whole, then one for each limit, and one for a draw that
/// was not answered.
pub(super) fn sentences(settings: &ModelSettings, trials: &ModelTrials) -> Vec<String> {
    let (all, limited): (Vec<_>, Vec<_>) = trials.sizes.iter().partition(|size| size.is_all);
    let taken: Vec<String> = all.into_iter().map(counted).collect();
    let taken = (!taken.is_empty()).then(|| format!("It takes {}.", taken.join(" and ")));
    let limits = limited.into_iter().map(|size| limit(settings, size));
    let unmeasured = trials.unmeasured.as_ref();
    let unmeasured = unmeasured.map(|failed| {
        let why = why(settings, failed);
        format!(
            "`{}` was not answered, so its distance is unknown: {why}",
            failed.trial
        )
    });
    taken.into_iter().chain(limits).chain(unmeasured).collect()
}

fn counted(size: &TakenSize) -> String {
    let taken = size.taken;
    match size.unit {
        SizeUnit::Outcomes => format!("{taken} outcomes a question"),
        SizeUnit::Questions if taken == 1 => "1 question a request".to_owned(),
        SizeUnit::Questions => format!("{taken} questions a request"),
    }
}

/// What the server takes of something, why not more, and which prisms are served.
fn limit(settings: &ModelSettings, size: &TakenSize) -> String {
    let counted = counted(size);
    let refused = size.refused.as_ref().map(|failed| {
        let why = why(settings, failed);
        format!(" `{}` failed: {why}", failed.trial)
    });
    let refused = refused.unwrap_or_default();
    let taken = size.taken;
    let served = match size.unit {
        SizeUnit::Outcomes => {
            format!(
                "Prisms with up to {taken} outcomes a question are served, built-in ones included."
            )
        }
        SizeUnit::Questions => format!("Set REFRACT_MODEL_REQUEST_QUESTIONS={taken}."),
    };
    format!("It takes {counted}, not more.{refused} {served}")
}

/// The failure, with the server's own words.
fn why(settings: &ModelSettings, failed: &FailedTrial) -> String {
    let quoted = of(settings, failed.message.as_ref());
    format!("{}{quoted}", failed.failure)
}

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

/// The server's own words about a failure, with a leading space; empty if it sent none.
pub(super) fn of(settings: &ModelSettings, message: Option<&ServerMessage>) -> String {
    let key = settings.api_key.as_ref();
    let message = message.and_then(|message| message.for_terminal(key));
    let quoted = message.map(|words| format!(" The server says: \"{words}\"."));
    quoted.unwrap_or_default()
}
