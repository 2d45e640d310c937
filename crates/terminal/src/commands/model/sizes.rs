//! How many outcomes and questions a server takes, in sentences.

use refract_service::model::{FailedTrial, ModelSettings, ModelTrials, SizeUnit, TakenSize};

use super::quote;

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
    let quoted = quote::of(settings, failed.message.as_ref());
    format!("{}{quoted}", failed.failure)
}
