//! `/prisms/{slug}/edit/review`: the stored draft before it is saved; and what is done to it there.

use std::sync::Arc;

use actix_web::http::StatusCode;
use refract_service::people::DraftRevision;
use refract_service::prisms::{TRIAL_TEXTS, TrialTexts};

use super::editing::Editing;
use super::example_check::{self, DraftExamples};
use super::keeping;
use super::kept_state::{DraftStanding, REVISION, TAB};
use super::review_page::DraftChanges;
use super::trial::TriedTexts;
use super::{meanwhile_page, review_page, saving};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::page_request::Query;
use crate::requests::visit::{Visit, version_number};

/// Shows what saving the stored draft changes. Without a draft that can be saved, it leads to the
/// form.
pub(crate) async fn review(visit: Visit) -> Result<PageReply, PageError> {
    let editing = Editing::find(&visit).await?;
    let Some(prism) = editing.prism.as_ref().filter(|_| editing.kept.is_touched()) else {
        return Ok(to_form(&editing, Some("gone")));
    };
    if editing.based_on != Some(prism.latest_version) {
        return meanwhile_page::show(&visit, &editing).await;
    }
    let Ok(draft) = editing.read_version(&visit).await? else {
        return Ok(PageReply::see_other(&format!(
            "{}?check=1",
            editing.address()
        )));
    };
    let draft = Arc::new(draft);
    let changes = DraftChanges::of(&editing, &draft).await?;
    let lens = Arc::new(visit.find_lens().await?);
    let (prisms, results) = (visit.refract.prisms(), visit.refract.results());
    let most = u32::try_from(TRIAL_TEXTS).unwrap_or(u32::MAX);
    let newest = results.newest_answered(&lens, most).await?;
    let tried = editing.extras.stored.as_ref();
    let tried = tried.filter(|trial| trial.is_of(&editing.draft));
    let ids = tried.iter().flat_map(|trial| &trial.texts);
    let ids: Vec<_> = ids.filter_map(|text| text.result).collect();
    let shown = review_page::Review {
        cost: prisms.draft_trial_cost(&draft.file.version, &newest),
        stored: prisms.find_trial_texts(&lens, &ids).await?,
        examples: DraftExamples::find(&visit, &draft, &lens).await?,
        editing: &editing,
        draft: &draft,
        changes: &changes,
        tried,
    };
    Ok(review_page::show(&visit, &shown))
}

/// Carries out an action on the stored draft: save, try, note, move on top of a newer version,
/// discard.
pub(crate) async fn change_draft(visit: Visit) -> Result<PageReply, PageError> {
    let form = &visit.sent.form;
    let mut editing = Editing::find(&visit).await?;
    let DraftStanding::Stored(_) = editing.kept.standing else {
        return Ok(to_form(&editing, Some("gone")));
    };
    let seen = DraftRevision::parse(form.get(REVISION));
    if seen != Some(editing.kept.revision) && form.get(TAB) != editing.kept.tab {
        return Ok(to_form(&editing, Some("other")));
    }
    form.get(TAB).clone_into(&mut editing.kept.tab);
    match form.get("act") {
        "discard" => {
            let is_gone = keeping::discard(&editing, &visit).await?;
            let from = form.get("from");
            let query = Query::default()
                .with("done", is_gone.then_some("discarded"))
                .with("from", Some(from));
            let address = format!("{}{}", editing.address(), query.in_address());
            return Ok(PageReply::see_other(&address));
        }
        "on_top" => {
            let shown = version_number(form.get("onto")).ok_or(PageError::NoForm)?;
            editing.put_on(&visit, shown).await?;
            keeping::keep(&mut editing, &visit).await?;
            return Ok(to_form(&editing, None));
        }
        _ => {}
    }
    form.get("note").clone_into(&mut editing.extras.note);
    if form.get("act") == "try"
        && let Ok(draft) = editing.read_version(&visit).await?
    {
        let lens = Arc::new(visit.find_lens().await?);
        let choice = TrialTexts::named(form.get("stored")).unwrap_or_default();
        let version = &draft.file.version;
        let trying = TriedTexts::of_stored_texts(&visit, &editing.draft, version, &lens, choice);
        editing.extras.stored = Some(trying.await?);
    }
    if form.get("act") == "examples" {
        example_check::ask(&visit, &editing).await?;
    }
    keeping::keep(&mut editing, &visit).await?;
    if form.get("act") == "save" && !editing.kept.is_refused() {
        return saving::save(&visit, &editing).await;
    }
    if form.has("fragment") {
        return Ok(
            PageReply::text("text/plain; charset=utf-8", "").with_status(StatusCode::NO_CONTENT)
        );
    }
    Ok(PageReply::see_other(&format!(
        "{}/review",
        editing.address()
    )))
}

/// Leads to the form, with a word on what happened.
fn to_form(editing: &Editing, done: Option<&str>) -> PageReply {
    let query = Query::default().with("done", done);
    PageReply::see_other(&format!("{}{}", editing.address(), query.in_address()))
}
