//! The page of a draft that was tried on stored texts: whether it is still what the draft says, and which
//! answers change, by question: those that get worse first, then the better ones.

use std::collections::HashMap;

use maud::{Markup, html};
use refract_domain::ids::ResultId;
use refract_domain::prism::PrismVersion;
use refract_domain::submission::Submission;
use refract_service::measures::{FlippedAnswer, RetestReport, RetestedQuestion};

use super::retest_view::{RetestView, in_percent};
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::counted;
use crate::components::prism_tabs::prism_address;
use crate::components::report::{label, report};
use crate::components::retest::retest_address;
use crate::components::table::stacked_table;
use crate::components::texts::in_short;
use crate::pages::edit::present_draft;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The heading of the page.
pub(super) const TITLE: &str = "Other words on stored texts";
/// The most changed answers that are shown of a question; the file has all.
const SHOWN: usize = 20;
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
        .flat_map(|(_, flips)| flips.iter().take(SHOWN));
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
                @if flips.len() > SHOWN { p.soft { "and " (counted(flips.len() - SHOWN, "more change")) "." } }
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
        @for flip in flips.iter().take(SHOWN) {
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
