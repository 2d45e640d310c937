//! `/prisms/{slug}/edit` and `/prisms/new/edit`: the fields, context and questions of a prism; and
//! `/prisms/{slug}/edit/review`: the stored draft before it is saved.
//!
//! One form holds everything. Each button sends it whole; the server stores it as the person's
//! draft and shows it again, changed. The script that does this without a reload therefore needs
//! no rules about prisms, and nothing typed depends on the browser.

mod act;
mod carried_draft;
mod draft;
mod draft_form;
mod draft_state;
mod editing;
mod example_check;
mod form_page;
mod inputs;
mod item_keys;
mod keeping;
mod review_page;
pub(crate) mod stored_texts;
mod trial;
mod trial_form;

use std::sync::Arc;

use actix_web::http::StatusCode;
use refract_authoring::prism_file::PrismFile;
use refract_domain::prism::PrismVersion;
use refract_service::drafts::DraftRevision;

use self::editing::{DraftStanding, Editing, REVISION, TAB};
use self::example_check::DraftExamples;
use self::item_keys::question_of;
use self::review_page::DraftChanges;
use self::trial::TriedTexts;
use crate::replies::{PageError, PageReply};
use crate::requests::{Query, Visit, version_number};

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
    let panel = draft_state::panel(&editing, &checked);
    Ok(PageReply::html(StatusCode::OK, panel))
}

/// Carries out the action of the pressed button, and stores the draft.
pub(crate) async fn change(visit: Visit) -> Result<PageReply, PageError> {
    let mut editing = Editing::of_form(&visit).await?;
    if let Some(created) = keeping::find_created(&visit, &editing).await? {
        return Ok(keeping::saved(&editing, &created));
    }
    let button = visit.sent.form.get("act");
    match button {
        "mine" => keeping::insist(&mut editing, &visit),
        _ if editing.kept.is_refused() => return refused(&visit, editing).await,
        "check" | "review" | "save" | "test" => editing.propose_keys(&visit).await?,
        _ => act::press(&mut editing, button),
    }
    if button == "test" {
        test(&visit, &mut editing).await?;
    }
    keeping::keep(&mut editing, &visit).await?;
    if editing.kept.is_refused() {
        return refused(&visit, editing).await;
    }
    // proposed keys are looked at before they are saved
    let is_held = !editing.extras.proposed.is_empty();
    if button == "save" && !is_held {
        return keeping::save(&visit, &editing).await;
    }
    if visit.sent.form.has("fragment") {
        let checked = editing.check(&visit).await?;
        let made = form_page::made(editing, checked).await?;
        return Ok(PageReply::html(StatusCode::OK, made.form));
    }
    let address = editing.address();
    if button == "review" && editing.prism.is_some() && !is_held {
        example_check::ask(&visit, &editing).await?;
        return Ok(PageReply::see_other(&format!("{address}/review")));
    }
    if button == "trial" && editing.prism.is_some() {
        return Ok(PageReply::see_other(&format!("{address}/trial")));
    }
    let is_asked = editing.is_asked || ["check", "save"].contains(&button);
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
    // a double click: the first one may have created the prism and discarded the draft meanwhile
    if let Some(created) = keeping::find_created(visit, &editing).await? {
        return Ok(keeping::saved(&editing, &created));
    }
    let checked = editing.check(visit).await?;
    let made = form_page::made(editing, checked).await?;
    if visit.sent.form.has("fragment") {
        return Ok(PageReply::html(StatusCode::OK, made.form));
    }
    let page = form_page::show(visit, &made);
    Ok(page.status(StatusCode::CONFLICT).reply())
}

/// Asks the draft about the test texts of the form.
async fn test(visit: &Visit, editing: &mut Editing) -> Result<(), PageError> {
    editing.is_asked = true;
    let Some(PrismFile { version, .. }) = editing.read(visit).await?.ok() else {
        return Ok(());
    };
    let (draft, texts) = (&editing.draft, &editing.extras.texts);
    let mut lens = None;
    if editing.prism.is_some() {
        lens = Some(Arc::new(visit.find_lens().await?));
    }
    let columns = lens.as_ref().map_or(&[][..], |lens| lens.columns().lens);
    let own = TriedTexts::of_own_texts(visit, draft, &version, columns, texts).await;
    editing.extras.own = Some(own);
    editing.is_asked = visit.sent.form.has(editing::ASKED);
    Ok(())
}

/// Shows what saving the stored draft changes. Without a draft that can be saved, it leads to the
/// form.
pub(crate) async fn review(visit: Visit) -> Result<PageReply, PageError> {
    let editing = Editing::find(&visit).await?;
    let Some(prism) = editing.prism.as_ref().filter(|_| editing.kept.is_touched()) else {
        return Ok(to_form(&editing, Some("gone")));
    };
    if editing.based_on != Some(prism.latest_version) {
        return review_page::show_meanwhile(&visit, &editing).await;
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
    let shown = review_page::Review {
        tried: stored_texts::last_trial(&visit, prism, &draft).await?,
        examples: DraftExamples::find(&visit, &draft, &lens).await?,
        editing: &editing,
        draft: &draft,
        changes: &changes,
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
    if form.get("act") == "examples" {
        example_check::ask(&visit, &editing).await?;
    }
    keeping::keep(&mut editing, &visit).await?;
    if form.get("act") == "save" && !editing.kept.is_refused() {
        return keeping::save(&visit, &editing).await;
    }
    if form.get("act") == "trial" {
        let address = format!("{}/trial", editing.address());
        return Ok(PageReply::see_other(&address));
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

/// What the visitor's draft of the prism in the address would save now, `Some(None)` if it has faults;
/// `None` without a draft.
pub(crate) async fn present_draft(
    visit: &Visit,
) -> Result<Option<Option<PrismVersion>>, PageError> {
    let editing = Editing::find(visit).await?;
    if !editing.kept.is_touched() {
        return Ok(None);
    }
    let read = editing.read_version(visit).await?;
    Ok(Some(read.ok().map(|draft| draft.file.version)))
}
