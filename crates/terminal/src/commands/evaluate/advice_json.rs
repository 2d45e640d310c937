//! Advice on cutoffs as the JSON object of `evaluate --advise --json`.

use refract_evaluation::cutoff_advice::{CutoffAdvice, CutoffGoal};
use refract_evaluation::cutoff_trial::CutoffMeasures;
use refract_evaluation::proportion::{Interval, Proportion};
use serde::Serialize;
use serde_json::Number;

use crate::output;

/// The object; the cutoffs are null where the goal is out of reach.
#[derive(Serialize)]
pub(super) struct AdviceJson<'a> {
    question: &'a str,
    no_below: Option<f64>,
    yes_from: Option<f64>,
    #[serde(serialize_with = "output::in_order")]
    target: Vec<(&'static str, Option<Number>)>,
    marks: u64,
    held_out: HeldOutJson,
}

#[derive(Serialize)]
struct HeldOutJson {
    precision: Option<f64>,
    recall: Option<f64>,
    coverage: Option<f64>,
    precision_low: Option<f64>,
    precision_high: Option<f64>,
    recall_low: Option<f64>,
    recall_high: Option<f64>,
    no_precision: Option<f64>,
    no_precision_low: Option<f64>,
    no_precision_high: Option<f64>,
    cost: Option<f64>,
}

impl<'a> AdviceJson<'a> {
    /// The object of an advice.
    pub(super) fn of(question: &'a str, goal: CutoffGoal, advice: &CutoffAdvice) -> Self {
        let share = |percent| f64::from(percent) / 100.0;
        Self {
            question,
            no_below: advice.no_below.map(share),
            yes_from: advice.yes_from.map(share),
            target: target(goal),
            marks: advice.marks,
            held_out: HeldOutJson::of(&advice.held_out),
        }
    }
}

/// The goal with its numbers as they were given.
fn target(goal: CutoffGoal) -> Vec<(&'static str, Option<Number>)> {
    match goal {
        CutoffGoal::Precision(precision) => vec![("precision", plain(precision))],
        CutoffGoal::Recall(recall) => vec![("recall", plain(recall))],
        CutoffGoal::Costs {
            wrong_yes,
            wrong_no,
        } => vec![
            ("cost_of_wrong_yes", plain(wrong_yes)),
            ("cost_of_wrong_no", plain(wrong_no)),
        ],
    }
}

/// A number without a needless `.0`.
fn plain(number: f64) -> Option<Number> {
    number.to_string().parse().ok()
}

impl HeldOutJson {
    fn of(held_out: &CutoffMeasures) -> Self {
        let ends = |proportion: Proportion| {
            let interval = proportion.interval();
            let ends = interval.map(|Interval { low, high }| (low, high));
            ends.unzip()
        };
        let (precision_low, precision_high) = ends(held_out.precision);
        let (recall_low, recall_high) = ends(held_out.recall);
        let (no_precision_low, no_precision_high) = ends(held_out.no_precision);
        Self {
            precision: held_out.precision.value(),
            recall: held_out.recall.value(),
            coverage: held_out.coverage.value(),
            precision_low,
            precision_high,
            recall_low,
            recall_high,
            no_precision: held_out.no_precision.value(),
            no_precision_low,
            no_precision_high,
            cost: held_out.cost,
        }
    }
}
