//! Advice of `refract model check` about the model, with upper bounds on the error of its
//! probabilities by number of outcomes.

use indicatif::HumanCount;
use refract_service::model::{
    CertificateFault, DistanceBound, FailedTrial, LongText, LongTextOutcome, ModelEndpoint,
    ModelError, ModelSettings, ModelTrials, Protocol, ServerMessage, SizeUnit, TakenSize,
    TrialReport, Unreachable, WrittenInstead,
};

use crate::terminal::widened;

/// The largest change of a probability with the order of options that needs no finding.
const NOTABLE_MOVE: f64 = 0.1;
/// The least total probability of the codes that needs no finding: below it, the model often writes
/// other words.
const LEAST_ON_CODES: f64 = 0.8;
/// The largest difference between a sum of probabilities and 1 that needs no finding: more than
/// servers lose that round to two decimals.
const NOTABLE_EXCESS: f64 = 0.05;
/// The most outcomes of a question whose sum is judged: rounding adds up over more.
const FEW_OUTCOMES: usize = 10;
/// Advice for an unexpected reply.
const CHECK_SETTINGS: &str =
    " Check REFRACT_MODEL_URL, REFRACT_MODEL_NAME and REFRACT_MODEL_PROTOCOL.";
/// The largest distance that needs no action, in thousandths.
const LARGEST_GOOD_DISTANCE: u32 = 20;
/// The probability of one outcome above which an answer is too confident to bound the error of flat
/// ones.
const CLEAR_PREFERENCE: f64 = 0.5;

/// How the probabilities of this model are read.
pub(super) fn reading(settings: &ModelSettings) -> &'static str {
    match (&settings.endpoint, settings.protocol) {
        (ModelEndpoint::DemoScorer, _) => "it compares words",
        (
            ModelEndpoint::Servers(_),
            Protocol::SystemOne | Protocol::Decisions | Protocol::Gemini,
        ) => "the probabilities are the server's own",
        (ModelEndpoint::Servers(_), Protocol::Chat) => {
            "probabilities are read from the log-probabilities of codes"
        }
        (ModelEndpoint::Servers(_), Protocol::Stated) => {
            "the probabilities are the model's opinion, stated in percent"
        }
    }
}

/// One sentence for each finding of the trials, then the recommendation.
pub(super) fn findings(settings: &ModelSettings, trials: &ModelTrials) -> Vec<String> {
    let reports = &trials.reports;
    let mut lines = Vec::new();
    if let Some(model) = reports.iter().find_map(|report| report.model.as_deref()) {
        lines.push(format!("The server names its model {model}."));
    }
    let moved = trials.moved_by_order();
    if let Some(moved) = moved {
        lines.push(format!(
            "The order of the options moved the right one's probability by {moved:.3}."
        ));
    }
    if let Some(others) = others(settings.protocol) {
        let hidden = reports
            .iter()
            .filter(|report| report.readable < report.outcomes);
        lines.extend(hidden.map(|report| {
            format!(
                "Of the {} outcomes of `{}` {} had a probability of their own: {others}.",
                report.outcomes, report.trial, report.readable
            )
        }));
    }
    lines.extend(reports.iter().filter_map(odd_numbers));
    lines.extend(size_sentences(settings, trials));
    lines.extend(sentences(trials));
    lines.extend(trials.long_text.as_ref().map(long_text_sentence));
    lines.push(recommendation(settings, reports, moved).to_owned());
    lines
}

/// A finding about the numbers of an answer that is stored as it was sent.
fn odd_numbers(report: &TrialReport) -> Option<String> {
    let sum = report
        .sum
        .filter(|sum| report.outcomes <= FEW_OUTCOMES && (sum - 1.0).abs() > NOTABLE_EXCESS);
    let sum = sum.map(|sum| format!("its probabilities sum to {sum:.2}"));
    let named = report.names_another;
    let named = named.then(|| "it names another outcome than the most probable one".to_owned());
    let odd: Vec<String> = sum.into_iter().chain(named).collect();
    (!odd.is_empty()).then(|| {
        format!(
            "The answer to `{}` is stored as it was sent: {}.",
            report.trial,
            odd.join(", and ")
        )
    })
}

/// How outcomes without a probability are handled; `None` for `chat`, where the distance measures
/// the effect.
fn others(protocol: Protocol) -> Option<&'static str> {
    match protocol {
        Protocol::SystemOne | Protocol::Decisions | Protocol::Gemini => {
            Some("the others count as 0")
        }
        Protocol::Chat => None,
        Protocol::Stated => Some("the others share what is left"),
    }
}

fn recommendation(
    settings: &ModelSettings,
    reports: &[TrialReport],
    moved: Option<f64>,
) -> &'static str {
    // for a flat answer, the server lists only part of the codes' probability
    let sure_ones = reports.iter().filter(|report| report.right.is_some());
    let least_on_codes = sure_ones.filter_map(|report| report.on_codes);
    if settings.endpoint == ModelEndpoint::DemoScorer {
        "The built-in scorer answers: it is for trying things only."
    } else if reports.iter().any(|report| report.right == Some(false)) {
        "The model can be asked, but it got an easy question wrong: use a stronger one."
    } else if least_on_codes.fold(1.0, f64::min) < LEAST_ON_CODES {
        "The model can serve, but it often writes other words than a code: compare it with others."
    } else if moved.is_some_and(|moved| moved > NOTABLE_MOVE) {
        "The model can serve, but the order of options moves its answers: compare it with others."
    } else {
        "The model can serve."
    }
}

/// Advice for a failure, with a leading space; empty if the failure's message already contains the
/// advice.
pub(super) fn after(failure: &ModelError, settings: &ModelSettings, protocol: Protocol) -> String {
    // gateways answer so where a key is missing, and do not say that it is
    let may_want_key =
        settings.api_key.is_none() && matches!(failure, ModelError::Status(400 | 500));
    let key = if may_want_key {
        " If the server wants a key, set REFRACT_MODEL_API_KEY."
    } else {
        ""
    };
    format!("{}{key}", of_failure(failure, protocol))
}

fn of_unreachable(reason: Unreachable) -> &'static str {
    if let Unreachable::Certificate(fault) = reason {
        return if fault == CertificateFault::UnknownAuthority {
            " Set REFRACT_MODEL_CA_FILE to a file with the certificate of its authority."
        } else {
            " Give the server a certificate for the host of REFRACT_MODEL_URL."
        };
    }
    " Check REFRACT_MODEL_URL and whether the server runs."
}

fn of_failure(failure: &ModelError, protocol: Protocol) -> &'static str {
    match failure {
        ModelError::Status(401 | 403) => " Check REFRACT_MODEL_API_KEY.",
        ModelError::Status(429) => " Its limits are too low for it to serve now.",
        ModelError::Status(408 | 504 | 524) => {
            " Raise the time limit of the gateway or proxy in front of the model server."
        }
        ModelError::Status(404 | 405 | 501) => match protocol {
            Protocol::SystemOne | Protocol::Decisions | Protocol::Gemini => {
                " The server or its model lacks the endpoint of this protocol: set \
                 REFRACT_MODEL_PROTOCOL=chat, or check REFRACT_MODEL_URL and REFRACT_MODEL_NAME. \
                 `refract model detect` shows what the server speaks."
            }
            Protocol::Chat | Protocol::Stated => CHECK_SETTINGS,
        },
        ModelError::Status(400..=499)
        | ModelError::NotSystemOne
        | ModelError::NotDecisions
        | ModelError::NotGemini
        | ModelError::NotChat
        | ModelError::NotHttp
        | ModelError::Redirect(_) => CHECK_SETTINGS,
        ModelError::Unreachable(reason) => of_unreachable(*reason),
        ModelError::TimedOut(_) | ModelError::HeldUp(_) | ModelError::TimedOutBehind(_) => {
            " Try again once the model is loaded, or raise REFRACT_MODEL_TIMEOUT_MS. If a gateway in \
             front of it waits for a rate limit, switch its retries off: `router_settings: \
             num_retries: 0` of LiteLLM."
        }
        ModelError::Loading(_) => " Try again once the model is loaded.",
        ModelError::ContextTooSmall(_) => {
            " Start the server with a larger context: `--ctx-size` of llama.cpp, which its \
             `--parallel` slots share; `--max-model-len` of vLLM."
        }
        ModelError::TooManyQuestions { .. } => {
            " Set REFRACT_MODEL_REQUEST_QUESTIONS to what the server takes."
        }
        ModelError::TooManyOptions(_) => {
            " Questions with fewer options can be answered; for this one, use another server."
        }
        ModelError::RefusedInFront(_) => {
            " Ask who runs the firewall or proxy, and check REFRACT_MODEL_URL."
        }
        ModelError::StillThinking(_) => {
            " Switch the model's thinking off, as with `--reasoning-budget 0` of llama.cpp, or use \
             a model that does not think."
        }
        ModelError::NoLogProbabilities(_) => " Try `stated`.",
        ModelError::CreditUsedUp(_) => {
            " Waiting does not mend it: look at the account's credit, quota and limits at the host."
        }
        ModelError::Refused(_) | ModelError::Blocked(_) | ModelError::Withheld => {
            " Use another model."
        }
        ModelError::OtherTokens(_) => " Try `stated`, or a newer version of the server.",
        ModelError::OffCodes {
            wrote: WrittenInstead::TemplateMarker | WrittenInstead::Nothing,
            ..
        } => {
            " Check that the server fills the chat template of the model, and that the model is no \
             base model."
        }
        ModelError::Unanswered(_) | ModelError::OffCodes { .. } => match protocol {
            Protocol::SystemOne | Protocol::Decisions | Protocol::Gemini => {
                " Look at what the server logs."
            }
            Protocol::Chat | Protocol::Stated => {
                " Use a model that follows instructions (no base model), with its own chat template \
                 and thinking off."
            }
        },
        ModelError::Disconnected => {
            " Look at what the server logs: it may have stopped while it answered."
        }
        ModelError::Status(_) | ModelError::ReportedError => " Look at what the server logs.",
        ModelError::Resting(_) => " Try again in a minute, and look at what the gateway logs.",
        ModelError::TooBusy(_)
        | ModelError::KeyRefused(_)
        | ModelError::ParameterRefused { .. }
        | ModelError::TooLarge
        | ModelError::Compressed => "",
    }
}

/// The distance of a bound with three decimals.
fn distance(bound: &DistanceBound) -> String {
    let thousandths = bound.thousandths;
    format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000)
}

/// One sentence each: the bounds from the trials without a right outcome, the remedy for large
/// bounds, and the limits of their validity. Empty if nothing was read from codes.
pub(super) fn sentences(trials: &ModelTrials) -> Vec<String> {
    let bounds = trials.distance_bounds();
    let sentences = [measured(&bounds), remedy(&bounds), clear_preference(trials)];
    sentences.into_iter().flatten().collect()
}

/// The bounds in one sentence.
fn measured(bounds: &[DistanceBound]) -> Option<String> {
    let (first, others) = bounds.split_first()?;
    let others = others
        .iter()
        .map(|bound| format!(" {} for up to {},", distance(bound), bound.outcomes));
    Some(format!(
        "Probabilities are off by at most {} (total variation distance) for up to {} outcomes,{} \
         as measured on questions without an obvious answer.",
        distance(first),
        first.outcomes,
        others.collect::<String>()
    ))
}

/// The remedy if the distance is large for some number of outcomes.
fn remedy(bounds: &[DistanceBound]) -> Option<String> {
    let is_good = |bound: &&DistanceBound| bound.thousandths <= LARGEST_GOOD_DISTANCE;
    if bounds.iter().all(|bound| is_good(&bound)) {
        return None;
    }
    let concerned = match bounds.iter().rfind(is_good) {
        Some(good) => format!("For more than {} outcomes that", good.outcomes),
        None => "That".to_owned(),
    };
    Some(format!(
        "{concerned} is much: use a server that lists more alternatives, raise \
         REFRACT_MODEL_FOLLOW_UPS, or ask about fewer outcomes."
    ))
}

/// A warning if the model clearly preferred an outcome in a draw without a correct one: a confident
/// answer leaves less probability unread than a flat one.
fn clear_preference(trials: &ModelTrials) -> Option<String> {
    let preferring = trials
        .draws()
        .filter(|report| report.probability > CLEAR_PREFERENCE);
    let names: Vec<_> = preferring
        .map(|report| format!("`{}`", report.trial))
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "The model clearly preferred one outcome in {}: flatter answers may be further off.",
            names.join(", ")
        )
    })
}

/// One sentence for what the server takes whole, then one for each limit, and one for a draw that
/// was not answered.
fn size_sentences(settings: &ModelSettings, trials: &ModelTrials) -> Vec<String> {
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
    let quoted = server_words(settings, failed.message.as_ref());
    format!("{}{quoted}", failed.failure)
}

/// What the trial of a long text found, and what to do about it.
fn long_text_sentence(long_text: &LongText) -> String {
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
pub(super) fn server_words(settings: &ModelSettings, message: Option<&ServerMessage>) -> String {
    let key = settings.api_key.as_ref();
    let message = message.and_then(|message| message.for_terminal(key));
    let quoted = message.map(|words| format!(" The server says: \"{words}\"."));
    quoted.unwrap_or_default()
}
