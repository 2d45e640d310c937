//! What is said above the lens: what came of the action before, and what was changed elsewhere since
//! the draft began, with the choice between both.

use maud::{Markup, html};
use refract_domain::account::Role;
use refract_service::drafts::DraftRevision;
use refract_service::lenses::{LensHistory, PrismLens};

use super::history::{self, put_back_form};
use super::preview::counted_of;
use super::state::{INSTEAD, LensDraftForm};
use crate::components::{NoticeKind, count, lens_change, moment, notice, prism_address};
use crate::replies::PageError;
use crate::requests::Visit;

/// The hidden input with the revision of the lens that was in force when the page was made.
pub(super) const IN_FORCE: &str = "in_force";
/// The button with the revision of the lens that the draft is saved over.
pub(super) const OVER: &str = "over";

/// The notice of a page's address, if there is any.
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
        // of a draft that is older than the lens, the page says so with a choice
        Some("meanwhile") if draft.is_overtaken(lens) => None,
        Some("meanwhile") => refused(
            "Somebody changed the lens meanwhile: this is theirs. Look at it, and do it again if you still want to.",
        ),
        Some(_) | None => None,
    };
    Ok(outcome)
}

/// Says that the draft was changed in another tab to this revision, with the choice between both.
pub(super) fn draft_meanwhile(lens: &PrismLens, present: DraftRevision) -> Markup {
    let words = html! {
        "This draft was changed in another tab meanwhile. What you see here is not kept yet. "
        div.row {
            button type="submit" form="lens" name=(INSTEAD) value=(present.number()) { "Keep what is on this page" }
            a href={ (prism_address(&lens.prism)) "/lens" } { "Show what is kept instead" }
        }
    };
    notice(NoticeKind::Warning, &words)
}

/// Says who saved another lens since the draft began, and what that changed, with the choice between
/// both. Nothing for a draft that began from the lens in force.
pub(super) fn lens_meanwhile(found: &LensHistory, based_on: i32) -> Markup {
    let LensHistory { lens, states } = found;
    let Some(theirs) = states.first().filter(|it| it.revision != based_on) else {
        return html! {};
    };
    let address = format!("{}/lens", prism_address(&lens.prism));
    let mut earlier = states.iter().skip(1);
    let before = earlier.find(|state| state.revision == based_on);
    let words = html! {
        @match &theirs.saved {
            Some(saved) => {
                @match &saved.actor { Some(name) => bdi { (name) }, None => "The terminal" }
                " saved another lens " (moment(saved.made_at))
            },
            None => "Somebody saved another lens",
        }
        ", after you began this draft:"
        (lens_change(before, theirs, &lens.latest))
        div.row {
            button type="submit" form="lens" formaction={ (address) "/save" } name=(OVER) value=(theirs.revision) { "Keep mine: save it over theirs" }
            button type="submit" form="lens" formaction={ (address) "/discard" } { "Take theirs: drop my draft" }
        }
    };
    notice(NoticeKind::Refused, &words)
}

/// What the saved change did to stored results, with a link to them and a button that undoes it.
async fn saved(visit: &Visit, lens: &PrismLens, what: &str) -> Result<Option<Markup>, PageError> {
    let number = |name| -> Option<i32> { visit.sent.query.get(name)?.parse().ok() };
    let revision = number("saved");
    let words = match (what, number("state"), revision) {
        ("saved", ..) => {
            "The lens is saved: every result shows it from now on, old ones too.".to_owned()
        }
        ("reset", ..) => "The lens is automatic again.".to_owned(),
        (_, Some(state), Some(now)) => {
            format!("The lens of revision {state} is in force again, as revision {now}.")
        }
        _ => "That lens is in force again.".to_owned(),
    };
    let change = match revision {
        Some(revision) => history::find(visit, lens, revision, 0).await?,
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
                    (put_back_form(&page, change.before.revision, change.state.revision, "Undo"))
                }
            }
        },
    )))
}
