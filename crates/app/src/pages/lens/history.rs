//! The history of a lens: who changed it from what to what, when and why, and every state to put
//! back. And `/prisms/{slug}/lens/revisions/{n}`: the stored results that one change changed.

use std::sync::Arc;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::Role;
use refract_domain::lens::Column;
use refract_service::lenses::{DraftRows, LensDraft, LensHistory, LensState, PrismLens};
use refract_service::prisms::PrismError;

use super::changed::{ChangedPage, changed_file};
use super::preview::{changed_rows, counted_of};
use crate::components::{PrismTab, count, lens_change, moment, prism_address, stacked_table};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

/// The most states in the list.
const SHOWN: usize = 20;
/// The most states that the list needs: the last one is compared with the one before it.
pub(super) const STATES: u32 = 21;

/// The history, with a button to put a state back for those who may.
pub(super) fn history(found: &LensHistory, may_change: bool) -> Markup {
    let LensHistory { lens, states } = found;
    let address = format!("{}/lens", prism_address(&lens.prism));
    let before = states.iter().skip(1).map(Some).chain([None]);
    let rows = html! {
        @for (state, before) in states.iter().zip(before).take(SHOWN) {
            @let before = before.filter(|before| before.revision + 1 == state.revision);
            @let is_now = state.revision == lens.prism.lens_revision;
            tr {
                th scope="row" {
                    @match &state.saved {
                        Some(saved) => (moment(saved.made_at)),
                        None => span.soft { "earlier" },
                    }
                    " " span.soft.together { "revision " (state.revision) }
                }
                td data-label="Who" { (actor(state)) }
                td data-label="What" { (lens_change(before, state, &lens.latest)) }
                td data-label="Why" {
                    @if let Some(note) = state.saved.as_ref().and_then(|saved| saved.note.as_ref()) {
                        bdi { (note) }
                    }
                }
                td {
                    div.row {
                        @if before.is_some() {
                            a href={ (address) "/revisions/" (state.revision) } {
                                "Changed results" span.unseen { " of revision " (state.revision) }
                            }
                        }
                        @if is_now { span.tag { "in force" } }
                        @else if may_change { (put_back_form(&address, state.revision, lens.prism.lens_revision, PUT_BACK)) }
                    }
                }
            }
        }
    };
    html! {
        section.history #history {
            h2 { "History" }
            @if states.is_empty() {
                p.soft { "The lens was not changed yet. Each change shows here, and can be undone." }
            } @else {
                (stacked_table("The lenses of this prism, newest first", &["When", "Who", "What", "Why", ""], &rows))
            }
        }
    }
}

/// The button that puts a state of the history back.
pub(crate) const PUT_BACK: &str = "Put back";

/// The button that puts a state back in place of the revision that the page shows.
pub(crate) fn put_back_form(address: &str, revision: i32, based_on: i32, label: &str) -> Markup {
    html! {
        form method="post" action={ (address) "/put-back" } {
            input type="hidden" name="state" value=(revision);
            input type="hidden" name="revision" value=(based_on);
            button type="submit" {
                (label) @if label == PUT_BACK { span.unseen { " revision " (revision) } }
            }
        }
    }
}

/// Who saved a state.
pub(super) fn actor(state: &LensState) -> Markup {
    html! {
        @match state.saved.as_ref().map(|saved| saved.actor.as_ref()) {
            Some(Some(name)) => bdi { (name) },
            Some(None) => span.soft { "terminal" },
            None => span.soft { "not recorded" },
        }
    }
}

/// A change of a lens, with what it changed in stored results.
pub(super) struct AppliedChange {
    pub(super) state: LensState,
    pub(super) before: LensState,
    /// The lens before as the current one, and this one as its draft.
    pub(super) draft: LensDraft,
    /// The label column whose cutoffs the change moved, if it moved any.
    pub(super) near: Option<usize>,
}

/// Shows the page.
pub(crate) async fn show_change(visit: Visit) -> Result<PageReply, PageError> {
    let revision = visit.sent.values.get("n").parse();
    let revision = revision.map_err(|_| PageError::NotFound)?;
    let lens = visit.find_lens().await?;
    let page = ChangedPage::of(&visit.sent.query);
    let change = find(&visit, &lens, revision, page.skip()).await?;
    let AppliedChange {
        state,
        before,
        draft,
        near,
    } = change.ok_or(PageError::NotFound)?;
    let address = format!("{}/lens", prism_address(&lens.prism));
    let now = lens.prism.lens_revision;
    let may_change = visit.visitor.role.may(Role::Editor);
    let main = html! {
        h2 { "A change of the lens" }
        dl.facts {
            dt { "When" } dd { @if let Some(saved) = &state.saved { (moment(saved.made_at)) } @else { "not recorded" } }
            dt { "Who" } dd { (actor(&state)) }
            dt { "What" } dd { (lens_change(Some(&before), &state, &lens.latest)) }
            @if let Some(note) = state.saved.as_ref().and_then(|saved| saved.note.as_ref()) {
                dt { "Why" } dd { bdi { (note) } }
            }
        }
        p { "It changed " b { (count(draft.preview.changed_results)) } " of " (counted_of(&draft)) "." }
        (changed_rows(&draft, near))
        (page.links(&format!("{address}/revisions/{revision}"), "/changed.csv", &[], draft.preview.changed_results))
        div.row {
            a.button href=(address) { "Back to the lens" }
            @if may_change && now == state.revision { (put_back_form(&address, before.revision, now, "Undo this change")) }
        }
    };
    let title = format!("Change of the lens · {}", lens.prism.name);
    let page = visit.prism_page(&lens.prism, PrismTab::Lens, title, &main);
    Ok(page.status(StatusCode::OK).reply())
}

/// A recorded change with what it changed; `None` if the history lacks it or the state before it.
pub(super) async fn find(
    visit: &Visit,
    lens: &PrismLens,
    revision: i32,
    skip: u32,
) -> Result<Option<AppliedChange>, PageError> {
    let Some((state, before)) = states(visit, lens, revision).await? else {
        return Ok(None);
    };
    let lenses = visit.refract.lenses();
    let (earlier, near) = moved(lens, &before, &state);
    let columns = lens.latest.columns(&state.lens);
    let draft = lenses.draft_of(earlier, columns, DraftRows::Changed { near, skip });
    Ok(Some(AppliedChange {
        draft: draft.await?,
        state,
        before,
        near,
    }))
}

/// Sends every result that a change of the lens changed as a CSV file.
pub(crate) async fn download_change(visit: Visit) -> Result<PageReply, PageError> {
    let revision = visit.sent.values.get("n").parse();
    let revision = revision.map_err(|_| PageError::NotFound)?;
    let lens = visit.find_lens().await?;
    let states = states(&visit, &lens, revision).await?;
    let (state, before) = states.ok_or(PageError::NotFound)?;
    let (earlier, near) = moved(&lens, &before, &state);
    let columns = lens.latest.columns(&state.lens);
    let name = format!("{}-lens-{revision}-changed.csv", lens.prism.slug);
    changed_file(&visit, earlier, columns, near, &name).await
}

/// A state of the lens and the one before it; `None` if the history lacks one of them.
async fn states(
    visit: &Visit,
    lens: &PrismLens,
    revision: i32,
) -> Result<Option<(LensState, LensState)>, PageError> {
    let lenses = visit.refract.lenses();
    let selector = lens.prism.selector();
    match lenses.state(visit.account(), &selector, revision).await {
        Ok((state, before)) => Ok(before.map(|before| (state, before))),
        Err(PrismError::LensRevisionNotFound) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The prism with the lens before a change, and the place of the column whose cutoffs it moved.
fn moved(lens: &PrismLens, before: &LensState, state: &LensState) -> (PrismLens, Option<usize>) {
    let earlier = PrismLens {
        lens: Arc::new(before.lens.clone()),
        ..lens.clone()
    };
    let was = earlier.columns().lens;
    let is_moved = |column: &Column| column.output.cutoffs().is_some() && !was.contains(column);
    let columns = lens.latest.columns(&state.lens);
    let near = columns.iter().position(is_moved);
    (earlier, near)
}
