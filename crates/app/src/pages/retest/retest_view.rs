//! A retest with its prism, and the parts of its page: how many answers to each question flip, towards
//! what, and which answers marks prefer; and the single answers that flipped, the surest first.

use std::sync::Arc;

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_domain::answer::probability::Probability;
use refract_domain::ids::RetestId;
use refract_service::lenses::PrismLens;
use refract_service::measures::stored_retests::StoredRetest;
use refract_service::measures::{FlippedAnswer, RetestReport, RetestedQuestion};

use crate::components::number::{counted, percent};
use crate::components::report::{label, report};
use crate::components::retest::retest_address;
use crate::components::table::stacked_table;
use crate::components::texts::clamped;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// A retest with its prism.
pub(super) struct RetestView {
    pub(super) retest: StoredRetest,
    pub(super) lens: Arc<PrismLens>,
    /// Whether the visitor may stop and continue the retest.
    pub(super) is_editor: bool,
}

/// Finds the retest of the address.
pub(super) async fn find(visit: &Visit) -> Result<RetestView, PageError> {
    let lens = visit.find_lens().await?;
    let id = RetestId::parse(visit.sent.values.get("id")).ok_or(PageError::NotFound)?;
    let found = visit.refract.retests().find(visit.account(), id).await?;
    let of_prism = found.filter(|retest| retest.prism == lens.prism.id);
    Ok(RetestView {
        retest: of_prism.ok_or(PageError::NotFound)?,
        lens: Arc::new(lens),
        is_editor: visit.visitor.role.may(Role::Editor),
    })
}

/// The questions, in their order.
pub(super) fn section(questions: &[RetestedQuestion]) -> Markup {
    html! {
        @for retested in questions {
            @let question = &retested.question;
            section data-question=(question.key) {
                h3 { bdi { (question.text) } }
                (report(&retested.measures().report(), question))
            }
        }
    }
}

/// The most flips that are shown; the file has all.
const SHOWN: usize = 50;
/// The most characters of a `ref`.
const REFERENCE: usize = 40;
/// The most characters of a question.
const QUESTION: usize = 60;

/// The flips with links to the stored results, and the file with all of them.
pub(super) fn flips(view: &RetestView, found: &RetestReport) -> Markup {
    let flipped = found.flipped();
    if flipped.is_empty() {
        return html! {};
    }
    let rest = flipped.len().saturating_sub(SHOWN);
    let rows = html! { @for flip in flipped.iter().take(SHOWN) { (row(found, flip)) } };
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

fn row(found: &RetestReport, flip: &FlippedAnswer) -> Markup {
    let mut questions = found.questions.iter();
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
            td data-label="Question" { (clamped(&question.text, QUESTION)) " " code.soft { (flip.question) } }
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

pub(super) fn in_percent(probability: Probability) -> Markup {
    html! { span.soft { (percent(probability)) " %" } }
}
