//! A retest with its prism, and the parts of its page: how many answers to each question flip, towards
//! what, and which answers marks prefer; and the single answers that flipped, the surest first.

use std::sync::Arc;

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_domain::answer::probability::Probability;
use refract_domain::ids::RetestId;
use refract_domain::key::OutcomeKey;
use refract_domain::prism::question::Question;
use refract_domain::result::mark;
use refract_evaluation::comparison::{Comparison, ComparisonVerdict};
use refract_evaluation::flips::FlipMeasures;
use refract_service::lenses::PrismLens;
use refract_service::measures::stored_retests::StoredRetest;
use refract_service::measures::{FlippedAnswer, RetestReport, RetestedQuestion};

use crate::components::bar::{interval_bar, proportion_range};
use crate::components::number::{count, counted, percent};
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

/// The most directions of a question that are shown.
const DIRECTIONS: usize = 8;

/// The questions, in their order.
pub(super) fn section(questions: &[RetestedQuestion]) -> Markup {
    html! {
        @for retested in questions { (of_question(&retested.question, &retested.measures())) }
    }
}

fn of_question(question: &Question, measures: &FlipMeasures) -> Markup {
    let (rate, shown) = (measures.flip_rate, measures.towards.iter().take(DIRECTIONS));
    let rest = measures.towards.iter().skip(DIRECTIONS);
    let rest: u64 = rest.map(|direction| direction.count).sum();
    let rows = html! {
        @for direction in shown {
            tr {
                td data-label="Before" { bdi { (label(question, direction.from.as_ref())) } }
                td data-label="After" { bdi { (label(question, direction.to.as_ref())) } }
                td.number data-label="Flips" { (count(direction.count)) }
            }
        }
    };
    html! {
        section data-question=(question.key) {
            h3 { bdi { (question.text) } }
            p {
                strong { (counted(rate.count, "flip")) } " of " (counted(rate.of, "answer")) ": "
                data data-figure="flip_rate" value=[rate.value()] { (proportion_range(rate)) }
                " " (interval_bar(rate))
            }
            @if !measures.towards.is_empty() {
                (stacked_table("Flips by outcome", &["Before", "After", "Flips"], &rows))
                @if rest > 0 { p.soft { "and " (counted(rest, "flip")) " otherwise." } }
            }
            @if let Some(comparison) = &measures.marked { (marked(comparison)) }
        }
    }
}

/// Which answers are right more often on the marked texts.
fn marked(comparison: &Comparison) -> Markup {
    let verdict = match comparison.verdict() {
        ComparisonVerdict::Equal => "Both are right equally often.",
        ComparisonVerdict::MayBeChance => "The difference may be chance.",
        ComparisonVerdict::FirstIsBetter => {
            "The answers before are better: so large a difference is unlikely to be chance."
        }
        ComparisonVerdict::SecondIsBetter => {
            "The new answers are better: so large a difference is unlikely to be chance."
        }
    };
    html! {
        p {
            strong { (verdict) } " "
            (counted(comparison.rows, "marked text")) ": only the answer before is right on "
            (count(comparison.only_a_right)) ", only the new one on " (count(comparison.only_b_right))
            "; McNemar p " data data-figure="mcnemar_p" value=(comparison.mcnemar_p) {
                (format!("{:.3}", comparison.mcnemar_p))
            }
            "."
        }
    }
}

/// The label of an outcome; its key if only another version has it.
pub(super) fn label<'a>(question: &'a Question, outcome: Option<&'a OutcomeKey>) -> &'a str {
    let Some(outcome) = outcome else {
        return "no outcome";
    };
    let mut outcomes = mark::outcomes(question);
    let found = outcomes.find(|known| known.key == outcome.as_str());
    found.map_or(outcome.as_str(), |known| known.label)
}

/// The most flips that are shown; the file has all.
const SHOWN: usize = 50;
/// The most characters of a `ref`.
const REFERENCE: usize = 40;

/// The flips with links to the stored results, and the file with all of them.
pub(super) fn flips(view: &RetestView, report: &RetestReport) -> Markup {
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
