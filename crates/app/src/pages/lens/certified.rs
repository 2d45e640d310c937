//! The form that certifies cutoffs for the question in the middle of the page, and its outcome.

use maud::{Markup, html};
use refract_evaluation::cutoffs::certificate::{Certificate, Certification};
use refract_evaluation::cutoffs::promise::{CertifiedCutoffs, CertifiedGoal};
use refract_evaluation::marked::answers::MarkedAnswers;

use super::percent_text::to_share;
use crate::components::number::{count, counted, share};

/// The probability that is promised.
const SURE: f64 = 0.95;

/// The certificate for a share of wrong answers in percent, as `refract evaluate --advise` finds it;
/// `None` for a text that is no percentage below 100.
pub(super) fn certificate(marked: &MarkedAnswers, percent: &str) -> Option<Certificate> {
    let error: f64 = to_share(percent.trim())?.parse().ok()?;
    Some(marked.certify(CertifiedGoal::new(error, SURE)?))
}

/// The form, and the outcome of the last search for `certified` percent.
pub(super) fn certifying(marked: &MarkedAnswers, certified: Option<&str>) -> Markup {
    html! {
        div.finding {
            label for="wrong" { "Yes and No may be wrong in" }
            input #wrong name="wrong" type="number" inputmode="decimal" min="0.1" max="99" step="any"
                value=(certified.unwrap_or("5")) aria-describedby="certificate";
            span { "%" }
            button type="submit" name="act" value="certify" { "Certify cutoffs" }
            p #certificate role="status" { @if let Some(percent) = certified { (outcome(marked, percent)) } }
        }
    }
}

fn outcome(marked: &MarkedAnswers, percent: &str) -> Markup {
    let Some(certificate) = certificate(marked, percent) else {
        return html! { span.fault { "Type a number above 0 and below 100." } };
    };
    match certificate.certification {
        Certification::MoreMarks(more) => html! {
            "Not enough marks: about " (counted(more, "more random one")) " needed if answers stay as good."
        },
        Certification::OutOfReach => html! { "No cutoff does: answers are wrong too often." },
        Certification::Certified(region) => html! {
            "Certified"
            @if let CertifiedCutoffs::YesNo { no_below, yes_from } = region.cutoffs {
                ": No below " (no_below) " %, Yes from " (yes_from) " %"
            }
            ". Sure to 95 %, at most " (percent.trim()) " % of these answers are wrong. Of the marked ones, "
            (count(region.wrong.count)) " of " (count(region.wrong.of)) " are, and "
            (share(region.wrong.of, certificate.marks).unwrap_or_default()) " % are not Unsure."
        },
    }
}
