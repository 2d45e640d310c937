//! How far off a model's probabilities are at most, by number of outcomes.

use super::trial_report::TrialReport;

/// The largest distance, in thousandths, about which nothing needs to be done.
const LARGEST_GOOD_DISTANCE: u32 = 20;
/// The probability of one outcome above which an answer says little about flat ones.
const CLEAR_PREFERENCE: f64 = 0.5;

/// A bound on the total variation distance between the probabilities of an answer and the model's
/// own, for questions of up to so many outcomes.
#[derive(Clone, Copy)]
struct DistanceBound {
    outcomes: usize,
    /// The distance in thousandths, rounded up.
    thousandths: u32,
}

impl DistanceBound {
    /// The distance with three decimals.
    fn distance(self) -> String {
        format!(
            "{}.{:03}",
            self.thousandths / 1_000,
            self.thousandths % 1_000
        )
    }
}

/// The bounds that the trials without a right outcome show, what to do about large ones, and how far
/// they hold, each in one sentence. Empty where nothing was read from codes.
pub(super) fn sentences(reports: &[TrialReport]) -> Vec<String> {
    let bounds = bounds(reports);
    let sentences = [
        measured(&bounds),
        remedy(&bounds),
        clear_preference(reports),
    ];
    sentences.into_iter().flatten().collect()
}

/// A bound for each number of outcomes of the trials without a right outcome, from the smallest
/// number on: the largest unread part of all trials of up to so many outcomes. A bound that holds
/// for a larger number too is left out.
fn bounds(reports: &[TrialReport]) -> Vec<DistanceBound> {
    let mut bounds: Vec<DistanceBound> = Vec::new();
    for draw in reports.iter().filter(|report| report.right.is_none()) {
        let smaller = reports
            .iter()
            .filter(|report| report.outcomes <= draw.outcomes);
        let Some(unread) = smaller.filter_map(|report| report.unread).max() else {
            continue;
        };
        let bound = DistanceBound {
            outcomes: draw.outcomes,
            thousandths: unread.millionths().div_ceil(1_000),
        };
        bounds.retain(|smaller| smaller.thousandths != bound.thousandths);
        bounds.push(bound);
    }
    bounds
}

/// The bounds in one sentence.
fn measured(bounds: &[DistanceBound]) -> Option<String> {
    let (first, others) = bounds.split_first()?;
    let others = others
        .iter()
        .map(|bound| format!(" {} for up to {},", bound.distance(), bound.outcomes));
    Some(format!(
        "Probabilities are off by at most {} (total variation distance) for up to {} outcomes,{} \
         as measured on questions without an obvious answer.",
        first.distance(),
        first.outcomes,
        others.collect::<String>()
    ))
}

/// What to do where the distance is large for some number of outcomes.
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

/// A warning where the model was asked to draw and yet clearly preferred an outcome: a sure answer
/// leaves less unread than a flat one.
fn clear_preference(reports: &[TrialReport]) -> Option<String> {
    let draws = reports.iter().filter(|report| report.right.is_none());
    let preferring = draws.filter(|report| report.probability > CLEAR_PREFERENCE);
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
