//! A retest with its prism, and the parts of its page: how many answers to each question flip,
//! towards what, and which answers marks prefer; and the single answers that flipped, the surest
//! first.
//!
//! The page of a draft that was tried on stored texts: whether it is still what the draft says, and
//! which answers change, by question: those that get worse first, then the better ones.

use std::collections::HashMap;
use std::sync::Arc;

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::answer::Probability;
use refract_domain::ids::{ResultId, RetestId};
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use refract_service::lenses::PrismLens;
use refract_service::measures::stored_retests::StoredRetest;
use refract_service::measures::{FlippedAnswer, RetestReport, RetestedQuestion};

use crate::components::{
    NoticeKind, clamped, counted, in_short, label, notice, percent, prism_address, report,
    retest_address, stacked_table,
};
use crate::pages::edit::present_draft;
use crate::replies::PageError;
use crate::requests::Visit;

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

/// The heading of the page.
pub(super) const TITLE: &str = "Other words on stored texts";
/// The most changed answers that are shown of a question; the file has all.
const CHANGES_SHOWN: usize = 20;
/// The most characters of a text.
const TEXT: usize = 200;

/// Whether the outcome is that of the visitor's draft as it is now, and what can be done next.
pub(super) async fn standing(
    visit: &Visit,
    view: &RetestView,
    draft: &PrismVersion,
) -> Result<Markup, PageError> {
    let (prism, retest) = (&view.lens.prism, &view.retest);
    if retest.actor != Some(visit.visitor.person) || !view.is_editor {
        return Ok(html! {
            p {
                "A draft"
                @if let Some(name) = &retest.by { " by " bdi { (name) } }
                ", as its words were then. No version was made."
            }
        });
    }
    let edit = format!("{}/edit", prism_address(prism));
    let present = present_draft(visit).await?;
    Ok(match present {
        Some(Some(present)) if present == *draft => html! {
            p {
                "Your draft, as its words are now. Nothing is saved: "
                a href={ (edit) "/review" } { "review and save it" } ", or "
                a href=(edit) { "go on editing" } "."
            }
        },
        Some(_) => notice(
            NoticeKind::Warning,
            &html! {
                "Your draft was changed since: this is what its words answered before. "
                a href={ (edit) "/trial?choice=again:" (retest.id) "&texts=" (retest.counts.texts.max(1)) } { "Try the words of now on the same texts" }
            },
        ),
        None if *view.lens.latest == *draft => html! {
            p { "These words were saved as version " (prism.latest_version) "." }
        },
        None => html! { p { "The draft was saved or discarded since." } },
    })
}

/// Which answers change: the questions with most changes first.
pub(super) async fn changes(
    visit: &Visit,
    view: &RetestView,
    found: &RetestReport,
) -> Result<Markup, PageError> {
    let flipped = found.flipped();
    let mut questions: Vec<_> = found
        .questions
        .iter()
        .map(|question| (question, of_question(question, &flipped)))
        .collect();
    // a stable sort: questions with as many changes keep their order
    questions.sort_by_key(|(_, flips)| std::cmp::Reverse(flips.len()));
    let shown = questions
        .iter()
        .flat_map(|(_, flips)| flips.iter().take(CHANGES_SHOWN));
    let mut ids: Vec<ResultId> = shown.map(|flip| flip.result).collect();
    ids.sort_unstable();
    ids.dedup();
    let mut texts = HashMap::new();
    for part in ids.chunks(TEXTS_AT_ONCE) {
        let found = visit
            .refract
            .measures()
            .texts(visit.account(), part.to_vec());
        texts.extend(found.await?);
    }
    let address = retest_address(&view.lens.prism, view.retest.id);
    Ok(html! {
        @for (retested, flips) in &questions {
            @let question = &retested.question;
            section data-question=(question.key) {
                h3 { bdi { (question.text) } }
                @if flips.is_empty() { p { "No answer changes." } }
                (report(&retested.measures().report(), question))
                @if !flips.is_empty() { (table(retested, flips, &texts)) }
                @if flips.len() > CHANGES_SHOWN { p.soft { "and " (counted(flips.len() - CHANGES_SHOWN, "more change")) "." } }
            }
        }
        @if !flipped.is_empty() {
            p { a href={ (address) "/download" } download { "Download all changes as csv" } }
        }
    })
}

/// Texts that one query reads.
const TEXTS_AT_ONCE: usize = 200;

/// How marks judge a changed answer; the order is that of the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Judged {
    Worse,
    Better,
    NotBetter,
    Unmarked,
}

impl Judged {
    fn of(flip: &FlippedAnswer) -> Self {
        let Some(marked) = &flip.marked else {
            return Self::Unmarked;
        };
        let is_right = |outcome: &Option<_>| outcome.as_ref() == Some(marked);
        match (
            is_right(&flip.before.outcome),
            is_right(&flip.after.outcome),
        ) {
            (true, _) => Self::Worse,
            (false, true) => Self::Better,
            (false, false) => Self::NotBetter,
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Better => "better",
            Self::NotBetter => "wrong as before",
            Self::Unmarked => "not marked",
        }
    }
}

/// The changes of a question: the worse ones first, of each the surest first.
fn of_question<'a>(
    retested: &RetestedQuestion,
    flipped: &[&'a FlippedAnswer],
) -> Vec<&'a FlippedAnswer> {
    let own = flipped.iter().copied();
    let own = own.filter(|flip| flip.question == retested.question.key);
    let mut own: Vec<_> = own.collect();
    own.sort_by_key(|flip| Judged::of(flip));
    own
}

fn table(
    RetestedQuestion { question, .. }: &RetestedQuestion,
    flips: &[&FlippedAnswer],
    texts: &HashMap<ResultId, Submission>,
) -> Markup {
    let rows = html! {
        @for flip in flips.iter().take(CHANGES_SHOWN) {
            @let judged = Judged::of(flip);
            tr {
                th scope="row" {
                    a.text dir="auto" href={ "/results/" (flip.result) } { @if let Some(text) = texts.get(&flip.result) { (in_short(text, TEXT)) } }
                }
                @for (heading, side) in [("Before", &flip.before), ("Now", &flip.after)] {
                    td data-label=(heading) {
                        bdi { (label(question, side.outcome.as_ref())) }
                        @if let Some(probability) = side.probability { " " (in_percent(probability)) }
                    }
                }
                td data-label="Marked" {
                    @if let Some(marked) = &flip.marked { bdi { (label(question, Some(marked))) } " " }
                    span.tag.strong[judged == Judged::Worse] { (judged.words()) }
                }
            }
        }
    };
    let headings = ["Text", "Before", "Now", "Marked"];
    stacked_table("Changed answers, the worse ones first", &headings, &rows)
}
