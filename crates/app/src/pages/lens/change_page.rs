//! `/prisms/{slug}/lens/revisions/{n}`: the stored results that one change of the lens changed.

use std::sync::Arc;

use actix_web::http::StatusCode;
use maud::html;
use refract_domain::account::role::Role;
use refract_domain::lens::Column;
use refract_service::lenses::{DraftRows, LensDraft, LensState, PrismLens};
use refract_service::prisms::PrismError;

use super::history::{actor, difference, put_back};
use super::preview::{changed_rows, counted_of};
use crate::components::moment::moment;
use crate::components::number::count;
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

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
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let revision = visit.sent.values.get("n").parse();
    let revision = revision.map_err(|_| PageError::NotFound)?;
    let lens = visit.find_lens().await?;
    let change = find(&visit, &lens, revision).await?;
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
            dt { "What" } dd { (difference(Some(&before), &state, &lens.latest)) }
            @if let Some(note) = state.saved.as_ref().and_then(|saved| saved.note.as_ref()) {
                dt { "Why" } dd { bdi { (note) } }
            }
        }
        p { "It changed " b { (count(draft.preview.changed_results)) } " of " (counted_of(&draft)) "." }
        (changed_rows(&draft, near))
        div.row {
            a.button href=(address) { "Back to the lens" }
            @if may_change && now == state.revision { (put_back(&address, before.revision, now, "Undo this change")) }
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
) -> Result<Option<AppliedChange>, PageError> {
    let lenses = visit.refract.lenses();
    let selector = lens.prism.selector();
    let (state, before) = match lenses.state(visit.account(), &selector, revision).await {
        Ok((state, Some(before))) => (state, before),
        Ok((_, None)) | Err(PrismError::LensRevisionNotFound) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let columns = lens.latest.columns(&state.lens);
    let earlier = PrismLens {
        lens: Arc::new(before.lens.clone()),
        ..lens.clone()
    };
    let was = earlier.columns().lens;
    let is_moved = |column: &Column| column.output.cutoffs().is_some() && !was.contains(column);
    let near = columns.iter().position(is_moved);
    let draft = lenses.draft_of(earlier.clone(), columns, DraftRows::Changed { near });
    Ok(Some(AppliedChange {
        draft: draft.await?,
        state,
        before,
        near,
    }))
}
