//! What is said above a lens page: the outcome of the action before, and that somebody else changed
//! the lens or the draft meanwhile.

use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_service::lenses::PrismLens;

use super::change_page;
use super::history::put_back;
use super::lens_form::LensForm;
use super::preview::counted_of;
use super::stored_draft::LensDraftForm;
use crate::components::notice::{NoticeKind, notice};
use crate::components::number::count;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::requests::visit::Visit;

/// The notice of a page's address and its draft, if there is any.
pub(super) async fn after_redirect(
    visit: &Visit,
    lens: &PrismLens,
    draft: &LensDraftForm,
) -> Result<Option<Markup>, PageError> {
    let refused = |words: &str| Some(notice(NoticeKind::Refused, &html! { (words) }));
    let done = |words: &str| Some(notice(NoticeKind::Done, &html! { (words) }));
    let outcome = match visit.sent.query.get("done") {
        Some(what @ ("saved" | "reset" | "put-back")) => saved(visit, lens, what).await?,
        Some("unchanged") => done("The prism has this lens already."),
        Some("discarded") => done("The draft is discarded: this is the lens in force."),
        Some("note") => refused(
            "The reason is too long: at most 1,000 characters. Nothing is saved; your draft is kept.",
        ),
        Some("gone") => {
            refused("That lens cannot be put back: it shows a question that the prism has no more.")
        }
        Some("meanwhile") => refused(
            "Somebody changed the lens meanwhile: this is theirs. Look at it, and do it again if you still want to.",
        ),
        Some(_) | None => None,
    };
    Ok(outcome.or_else(|| lens_meanwhile(lens, draft)))
}

/// Says that the draft was changed in another tab.
pub(super) fn draft_meanwhile() -> Markup {
    let words = html! { "This draft was changed in another tab meanwhile. What you see here is not kept yet: press Preview to keep it instead, or reload the page for the other one." };
    notice(NoticeKind::Warning, &words)
}

/// What the saved change did to stored results, with a link to them and a button that undoes it.
async fn saved(visit: &Visit, lens: &PrismLens, what: &str) -> Result<Option<Markup>, PageError> {
    let words = match what {
        "saved" => "The lens is saved: every result shows it from now on, old ones too.",
        "reset" => "The lens is automatic again.",
        _ => "That lens is in force again.",
    };
    let revision = visit
        .sent
        .query
        .get("saved")
        .and_then(|text| text.parse().ok());
    let change = match revision {
        Some(revision) => change_page::find(visit, lens, revision).await?,
        None => None,
    };
    let page = format!("{}/lens", prism_address(&lens.prism));
    Ok(Some(notice(
        NoticeKind::Done,
        &html! {
            (words)
            @if let Some(change) = &change {
                @let changed = change.draft.preview.changed_results;
                " It changed " (count(changed)) " of " (counted_of(&change.draft)) ". "
                @if changed > 0 {
                    a href={ (page) "/revisions/" (change.state.revision) } {
                        "See the " @if changed > 1 { (count(changed)) " " } "changed"
                    }
                }
                @if visit.visitor.role.may(Role::Editor) && change.state.revision == lens.prism.lens_revision {
                    (put_back(&page, change.before.revision, change.state.revision, "Undo"))
                }
            }
        },
    )))
}

/// Says that the lens was changed after the draft began, and what it is now.
fn lens_meanwhile(lens: &PrismLens, draft: &LensDraftForm) -> Option<Markup> {
    if draft.based_on == lens.prism.lens_revision {
        return None;
    }
    let theirs = LensForm::of(lens.columns().lens);
    let words = html! {
        "Somebody saved another lens meanwhile. Your draft is below, and saving it replaces theirs, which has these columns: "
        @for (place, column) in theirs.columns.iter().enumerate() {
            @if place > 0 { ", " }
            bdi { (column.name) } " (" (column.shows)
            @if column.is_label() { ", no below " (column.no_below) " %, yes from " (column.yes_from) " %" }
            ")"
        }
        "."
    };
    Some(notice(NoticeKind::Refused, &words))
}
