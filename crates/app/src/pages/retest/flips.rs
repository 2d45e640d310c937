//! The single answers that flipped, the surest first.

use maud::{Markup, html};
use refract_domain::answer::probability::Probability;
use refract_service::measures::{FlippedAnswer, RetestReport, RetestedQuestion};

use super::figures::label;
use super::retest_view::RetestView;
use crate::components::clamped::clamped;
use crate::components::number::{counted, percent};
use crate::components::retest::retest_address;
use crate::components::table::stacked_table;

/// The most flips that are shown; the file has all.
const SHOWN: usize = 50;
/// The most characters of a `ref`.
const REFERENCE: usize = 40;

/// The flips with links to the stored results, and the file with all of them.
pub(super) fn section(view: &RetestView, report: &RetestReport) -> Markup {
    let flipped = report.flipped();
    if flipped.is_empty() {
        return html! {};
    }
    let rest = flipped.len().saturating_sub(SHOWN);
    let rows = html! { @for flip in flipped.iter().take(SHOWN) { (row(report, flip)) } };
    let address = retest_address(&view.lens.prism, view.retest.id);
    let headings = ["Result", "Question", "Before", "After", "Marked"];
    html! {
        section #flips {
            h3 { "The surest flips" }
            (stacked_table("Flips, the surest first", &headings, &rows))
            p.row {
                @if rest > 0 { span.soft { "and " (counted(rest, "more flip")) "." } }
                a href={ (address) "/download" } download { "Download all as csv" }
            }
        }
    }
}

fn row(report: &RetestReport, flip: &FlippedAnswer) -> Markup {
    let mut questions = report.questions.iter();
    let Some(RetestedQuestion { question, .. }) =
        questions.find(|retested| retested.question.key == flip.question)
    else {
        return html! {};
    };
    let reference = flip.reference.as_deref();
    let name = reference.map_or_else(|| flip.result.to_string(), |it| clamped(it, REFERENCE));
    let sides = [("Before", &flip.before), ("After", &flip.after)];
    html! {
        tr {
            th scope="row" { a href={ "/results/" (flip.result) } { bdi { (name) } } }
            td data-label="Question" { code { (flip.question) } }
            @for (heading, side) in sides {
                td data-label=(heading) {
                    bdi { (label(question, side.outcome.as_ref())) }
                    @if let Some(probability) = side.probability { " " (in_percent(probability)) }
                }
            }
            td data-label="Marked" { @match &flip.marked { Some(marked) => bdi { (label(question, Some(marked))) }, None => "–" } }
        }
    }
}

fn in_percent(probability: Probability) -> Markup {
    html! { span.soft { (percent(probability)) " %" } }
}
