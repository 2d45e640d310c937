//! What an operator is told about a model that was tried.

use refract_model_gateway::{ModelEndpoint, ModelFailure, ModelSettings, Protocol};

use super::Shown;
use super::trials::{FORWARD, REVERSED};

/// By how much the order of options may move a probability before it is worth a word.
const NOTABLE_MOVE: f64 = 0.1;
/// With less than this of the whole probability on the codes the model often writes other words.
const MOST_ON_CODES: f64 = 0.8;

/// How answers of this model come to be probabilities.
pub(super) fn reading(settings: &ModelSettings) -> &'static str {
    match (&settings.endpoint, settings.protocol) {
        (ModelEndpoint::Lexical, _) => "it compares words",
        (ModelEndpoint::Server(_), Protocol::SystemOne) => {
            "it sends the probabilities of every outcome"
        }
        (ModelEndpoint::Server(_), Protocol::Chat) => {
            "probabilities are read from the log-probabilities of codes"
        }
        (ModelEndpoint::Server(_), Protocol::Stated) => {
            "the model states percentages, which are coarser than log-probabilities"
        }
    }
}

/// What the calls showed, a sentence each, and the recommendation at the end.
pub(super) fn findings(settings: &ModelSettings, shown: &[Shown]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(model) = shown.iter().find_map(|row| row.model.as_deref()) {
        lines.push(format!("The server names its model {model}."));
    }
    let moved = moved_by_order(shown);
    if let Some(moved) = moved {
        lines.push(format!(
            "The order of the options moved the right one's probability by {moved:.3}."
        ));
    }
    let hidden = shown.iter().filter(|row| row.readable < row.outcomes);
    for row in hidden {
        lines.push(format!(
            "Of the {} outcomes of `{}` {} had a probability of their own: {}.",
            row.outcomes,
            row.call,
            row.readable,
            others(settings.protocol)
        ));
    }
    lines.push(recommendation(settings, shown, moved).to_owned());
    lines
}

/// How far apart the right option's probabilities are, in order and reversed.
fn moved_by_order(shown: &[Shown]) -> Option<f64> {
    let of = |call: &str| Some(shown.iter().find(|row| row.call == call)?.probability);
    Some((of(FORWARD)? - of(REVERSED)?).abs())
}

fn others(protocol: Protocol) -> &'static str {
    match protocol {
        Protocol::SystemOne => "the others count as 0",
        Protocol::Chat | Protocol::Stated => "the others share what is left",
    }
}

fn recommendation(settings: &ModelSettings, shown: &[Shown], moved: Option<f64>) -> &'static str {
    let least_on_codes = shown.iter().filter_map(|row| row.on_codes);
    if settings.endpoint == ModelEndpoint::Lexical {
        "The built-in scorer answers: it is for trying things only."
    } else if shown.iter().any(|row| !row.right) {
        "The model can be asked, but it got an easy question wrong: use a stronger one."
    } else if least_on_codes.fold(1.0, f64::min) < MOST_ON_CODES {
        "The model can serve, but it often writes other words than a code: compare it with others."
    } else if moved.is_some_and(|moved| moved > NOTABLE_MOVE) {
        "The model can serve, but the order of options moves its answers: compare it with others."
    } else {
        "The model can serve."
    }
}

/// What to do about a failure, with a space before it; empty where its sentence says so already.
pub(super) fn after(failure: &ModelFailure, protocol: Protocol) -> &'static str {
    match failure {
        ModelFailure::Status(401 | 403) => " Check REFRACT_MODEL_API_KEY.",
        ModelFailure::Status(429) => " Its limits are too low for it to serve now.",
        ModelFailure::Status(400..500)
        | ModelFailure::NotSystemOne
        | ModelFailure::NotChat
        | ModelFailure::NotHttp
        | ModelFailure::Redirect(_) => {
            " Check REFRACT_MODEL_URL, REFRACT_MODEL_NAME and REFRACT_MODEL_PROTOCOL."
        }
        ModelFailure::Unreachable(_) => " Check REFRACT_MODEL_URL and whether the server runs.",
        ModelFailure::TimedOut(_) => {
            " Try again once the model is loaded, or raise REFRACT_MODEL_TIMEOUT_MS."
        }
        ModelFailure::NoLogProbabilities(_) => " Try `stated`.",
        ModelFailure::Unanswered(_) => match protocol {
            Protocol::SystemOne => " Look at what the server logs.",
            Protocol::Chat | Protocol::Stated => {
                " Use a model that follows instructions, with thinking off."
            }
        },
        ModelFailure::Status(_) | ModelFailure::ReportedError => " Look at what the server logs.",
        ModelFailure::TooBusy(_)
        | ModelFailure::Disconnected
        | ModelFailure::ParameterRefused { .. }
        | ModelFailure::TooLarge => "",
    }
}
