//! `/prisms/{slug}/edit` and `/prisms/new/edit`: the fields, context and questions of a prism.
//!
//! One form holds everything. Each button sends it whole; the server stores it as the person's
//! draft and shows it again, changed. The script that does this without a reload therefore needs
//! no rules about prisms, and nothing typed depends on the browser.

mod act;
mod carried_draft;
mod draft;
mod draft_bar;
mod draft_form;
mod draft_keys;
mod editing;
mod example_check;
mod form_action;
mod form_page;
mod inputs;
mod keeping;
mod kept_state;
mod meanwhile_page;
mod place_description;
mod question_inputs;
mod removal;
mod review_page;
mod reviewing;
mod saving;
mod state_panel;
mod stored_edit;
mod trial;
mod trial_view;

use actix_web::http::StatusCode;
use refract_authoring::prism_file::PrismFile;
use refract_service::prisms::TrialTexts;

use self::editing::Editing;
use self::place_description::question_of;
pub(crate) use self::reviewing::{change_draft, review};
use self::trial::TriedTexts;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::page_request::Query;
use crate::requests::visit::Visit;

/// Shows the form with the person's draft, or with what it would start from.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let mut editing = Editing::find(&visit).await?;
    let checked = editing.check(&visit).await?;
    if editing.is_asked {
        let first = checked.problems.first().map(|problem| problem.path.clone());
        if let Some(place) = first.as_deref().and_then(question_of) {
            editing.draft.fold_besides(Some(place));
        }
        if editing.extras.acted.focus.is_empty() {
            editing.extras.acted.focus = first.unwrap_or_default();
        }
    }
    let made = form_page::made(editing, checked).await?;
    Ok(form_page::show(&visit, &made).reply())
}

/// Stores the draft while somebody types, and returns its problems and its size as a fragment.
pub(crate) async fn check(visit: Visit) -> Result<PageReply, PageError> {
    let mut editing = Editing::of_form(&visit).await?;
    keeping::keep(&mut editing, &visit).await?;
    let checked = editing.check(&visit).await?;
    let panel = state_panel::panel(&editing, &checked);
    Ok(PageReply::html(StatusCode::OK, panel))
}

/// Carries out the action of the pressed button, and stores the draft.
pub(crate) async fn change(visit: Visit) -> Result<PageReply, PageError> {
    let mut editing = Editing::of_form(&visit).await?;
    if let Some(created) = saving::find_created(&visit, &editing).await? {
        return Ok(saving::saved(&created));
    }
    let button = visit.sent.form.get("act");
    match button {
        "mine" => keeping::insist(&mut editing, &visit),
        _ if editing.kept.is_refused() => return refused(&visit, editing).await,
        "test" => test(&visit, &mut editing).await?,
        _ => act::press(&mut editing, button),
    }
    keeping::keep(&mut editing, &visit).await?;
    if editing.kept.is_refused() {
        return refused(&visit, editing).await;
    }
    if button == "save" {
        return saving::save(&visit, &editing).await;
    }
    if visit.sent.form.has("fragment") {
        let checked = editing.check(&visit).await?;
        let made = form_page::made(editing, checked).await?;
        return Ok(PageReply::html(StatusCode::OK, made.form));
    }
    let address = editing.address();
    if button == "review" && editing.prism.is_some() {
        example_check::ask(&visit, &editing).await?;
        return Ok(PageReply::see_other(&format!("{address}/review")));
    }
    let is_asked = editing.is_asked || button == "check";
    let query = Query::default()
        .with("acted", Some("1"))
        .with("check", is_asked.then_some("1"));
    let place = if button == "test" { "#texts" } else { "" };
    Ok(PageReply::see_other(&format!(
        "{address}{}{place}",
        query.in_address()
    )))
}

/// The form as it was sent, when another page has stored another draft.
async fn refused(visit: &Visit, editing: Editing) -> Result<PageReply, PageError> {
    let checked = editing.check(visit).await?;
    let made = form_page::made(editing, checked).await?;
    if visit.sent.form.has("fragment") {
        return Ok(PageReply::html(StatusCode::OK, made.form));
    }
    let page = form_page::show(visit, &made);
    Ok(page.status(StatusCode::CONFLICT).reply())
}

/// Asks the draft about the test texts of the form, and about stored texts if they are chosen.
async fn test(visit: &Visit, editing: &mut Editing) -> Result<(), PageError> {
    editing.is_asked = true;
    let Some(PrismFile { version, .. }) = editing.read(visit).await?.ok() else {
        return Ok(());
    };
    let (draft, texts) = (&editing.draft, &editing.extras.texts);
    let mut lens = None;
    if editing.prism.is_some() {
        lens = Some(std::sync::Arc::new(visit.find_lens().await?));
    }
    let columns = lens.as_ref().map_or(&[][..], |lens| lens.columns().lens);
    let own = TriedTexts::of_own_texts(visit, draft, &version, columns, texts).await;
    if let (Some(lens), Some(choice)) = (&lens, TrialTexts::named(visit.sent.form.get("stored"))) {
        let stored = TriedTexts::of_stored_texts(visit, draft, &version, lens, choice).await?;
        editing.extras.stored = Some(stored);
    }
    editing.extras.own = Some(own);
    editing.is_asked = visit.sent.form.has(editing::ASKED);
    Ok(())
}
