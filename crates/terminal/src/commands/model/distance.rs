//! Upper bounds on the error of a model's probabilities, by number of outcomes.

use refract_service::model::{DistanceBound, ModelTrials};

/// The largest distance that needs no action, in thousandths.
const LARGEST_GOOD_DISTANCE: u32 = 20;
/// The probability of one outcome above which an answer is too confident to bound the error of flat
/// ones.
const CLEAR_PREFERENCE: f64 = 0.5;

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
