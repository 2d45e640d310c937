//! Advice on cutoffs as the JSON object of `evaluate --advise --json`.

use refract_domain::result::mark::source::MarksFrom;
use refract_evaluation::cutoffs::advice::{CutoffAdvice, CutoffGoal};
use refract_evaluation::cutoffs::certificate::{Certificate, Certification, CertifiedRegion};
use refract_evaluation::cutoffs::promise::CertifiedCutoffs;
use refract_evaluation::cutoffs::trial::CutoffMeasures;
use refract_evaluation::measures::proportion::Proportion;
use serde::Serialize;
use serde_json::Number;

use crate::output;

/// The object; the cutoffs are null if the goal is out of reach.
#[derive(Serialize)]
pub(super) struct AdviceJson<'a> {
    question: &'a str,
    no_below: Option<f64>,
    yes_from: Option<f64>,
    #[serde(serialize_with = "output::in_order")]
    target: Vec<(&'static str, Option<Number>)>,
    marks: u64,
    #[serde(serialize_with = "output::in_order")]
    held_out: Vec<(&'static str, Option<f64>)>,
    marks_from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    certified: Option<CertifiedJson>,
}

/// The certificate of the cutoffs. What is only known of certified ones is null without them.
#[derive(Serialize)]
struct CertifiedJson {
    error: Option<Number>,
    sure: Option<Number>,
    marks: u64,
    more_marks_needed: Option<u64>,
    confidence: Option<f64>,
    answered: Option<u64>,
    wrong: Option<u64>,
    error_at_most: Option<f64>,
}

impl<'a> AdviceJson<'a> {
    /// The object of one advice.
    pub(super) fn of(
        question: &'a str,
        goal: CutoffGoal,
        advice: &CutoffAdvice,
        marks: MarksFrom,
    ) -> Self {
        Self {
            question,
            no_below: advice.no_below,
            yes_from: advice.yes_from,
            target: target(goal),
            marks: advice.marks,
            held_out: held_out(&advice.held_out),
            marks_from: marks.name(),
            certified: None,
        }
    }

    /// The object of a certificate.
    pub(super) fn certified(
        question: &'a str,
        certificate: &Certificate,
        marks: MarksFrom,
    ) -> Self {
        let cutoffs = certificate.certified().map(|region| region.cutoffs);
        let (no_below, yes_from) = match cutoffs {
            Some(CertifiedCutoffs::YesNo { no_below, yes_from }) => {
                (Some(share(no_below)), Some(share(yes_from)))
            }
            Some(CertifiedCutoffs::Confidence(_)) | None => (None, None),
        };
        let goal = certificate.goal;
        Self {
            question,
            no_below,
            yes_from,
            target: vec![("error", plain(goal.error())), ("sure", plain(goal.sure()))],
            marks: certificate.marks,
            held_out: held_out(&certificate.held_out),
            marks_from: marks.name(),
            certified: Some(CertifiedJson::of(certificate)),
        }
    }
}

impl CertifiedJson {
    fn of(certificate: &Certificate) -> Self {
        let region = certificate.certified();
        let confidence = |region: CertifiedRegion| match region.cutoffs {
            CertifiedCutoffs::Confidence(percent) => Some(share(percent)),
            CertifiedCutoffs::YesNo { .. } => None,
        };
        Self {
            error: plain(certificate.goal.error()),
            sure: plain(certificate.goal.sure()),
            marks: certificate.marks,
            more_marks_needed: match certificate.certification {
                Certification::Certified(_) => Some(0),
                Certification::MoreMarks(more) => Some(more),
                Certification::OutOfReach => None,
            },
            confidence: region.and_then(confidence),
            answered: region.map(|region| region.wrong.of),
            wrong: region.map(|region| region.wrong.count),
            error_at_most: region.map(|region| region.error_at_most),
        }
    }
}

/// A whole percent as a share.
fn share(percent: u32) -> f64 {
    f64::from(percent) / 100.0
}

/// The goal with its numbers as given.
fn target(goal: CutoffGoal) -> Vec<(&'static str, Option<Number>)> {
    match goal {
        CutoffGoal::Precision(precision) => vec![("precision", plain(precision))],
        CutoffGoal::YesPrecision(precision) => vec![("yes_precision", plain(precision))],
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

/// The measures of the cutoffs on held-out rows.
fn held_out(measures: &CutoffMeasures) -> Vec<(&'static str, Option<f64>)> {
    let low = |proportion: Proportion| Some(proportion.interval()?.low);
    let high = |proportion: Proportion| Some(proportion.interval()?.high);
    vec![
        ("precision", measures.precision.value()),
        ("recall", measures.recall.value()),
        ("coverage", measures.coverage.value()),
        ("precision_low", low(measures.precision)),
        ("precision_high", high(measures.precision)),
        ("recall_low", low(measures.recall)),
        ("recall_high", high(measures.recall)),
        ("no_precision", measures.no_precision.value()),
        ("no_precision_low", low(measures.no_precision)),
        ("no_precision_high", high(measures.no_precision)),
        ("cost", measures.cost),
    ]
}
