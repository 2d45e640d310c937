//! Saves a draft as a prism or as the next version of one.

use refract_domain::event::EventDetail;
use refract_domain::prism::slug::PrismSelector;
use refract_service::prisms::{Prism, PrismError};

use super::editing::Editing;
use super::keeping;
use crate::components::form_errors::describe;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// The prism that an earlier submission of this form created.
pub(crate) async fn find_created(
    visit: &Visit,
    editing: &Editing,
) -> Result<Option<Prism>, PageError> {
    if editing.prism.is_some() {
        return Ok(None);
    }
    let selector = PrismSelector::Id(editing.id);
    match visit
        .refract
        .prisms()
        .find(visit.account(), &selector)
        .await
    {
        Ok(prism) => Ok(Some(prism)),
        Err(PrismError::NotFound) => Ok(None),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Saves the stored draft, with its note, then discards it. A draft that cannot be saved leads to
/// the page that says why.
pub(crate) async fn save(visit: &Visit, editing: &Editing) -> Result<PageReply, PageError> {
    let file = editing.draft.file();
    let prisms = visit.refract.prisms();
    let mut actor = visit.actor();
    match note(editing) {
        Ok(Some(note)) => actor = actor.with_note(note),
        Ok(None) => {}
        Err(_) => return Ok(review(editing)),
    }
    let saved = match &editing.prism {
        None => prisms.create_once(&actor, editing.id, &file).await,
        Some(prism) => {
            let selector = PrismSelector::Id(prism.id);
            let saving = prisms.save_version(&actor, &selector, &file, editing.based_on);
            saving.await.map(|(prism, _)| prism)
        }
    };
    match saved {
        Ok(prism) => {
            keeping::discard(editing, visit).await?;
            Ok(self::saved(&prism))
        }
        Err(PrismError::VersionMeanwhile { .. }) => Ok(review(editing)),
        Err(PrismError::Invalid(_)) => Ok(PageReply::see_other(&format!(
            "{}?check=1",
            editing.address()
        ))),
        Err(refusal) => Err(refusal.into()),
    }
}

/// The redirect after a prism or a version was saved.
pub(crate) fn saved(prism: &Prism) -> PageReply {
    PageReply::see_other(&format!("{}?done=saved", prism_address(prism)))
}

/// The note of the draft for the event; `None` if nothing was typed.
///
/// # Errors
/// The faults of the note as one text.
pub(crate) fn note(editing: &Editing) -> Result<Option<EventDetail>, String> {
    let typed = &editing.extras.note;
    if typed.trim().is_empty() {
        return Ok(None);
    }
    let note = EventDetail::note(typed);
    note.map(Some).map_err(|errors| describe(typed, &errors))
}

fn review(editing: &Editing) -> PageReply {
    PageReply::see_other(&format!("{}/review", editing.address()))
}
