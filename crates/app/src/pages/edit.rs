//! `/prisms/{slug}/edit` and `/prisms/new/edit`: the fields, context and questions of a prism.
//!
//! One form holds everything. Each button sends it whole and the server shows it again, changed;
//! the script that does this without a reload therefore needs no rules about prisms.

mod act;
mod carried_draft;
mod draft;
mod draft_form;
mod editing;
mod form_page;
mod inputs;
mod meanwhile_page;
mod place_description;
mod question_inputs;
mod review_page;
mod state_panel;

use actix_web::http::StatusCode;
use refract_authoring::prism_file::PrismFile;
use refract_service::prisms::{PrismError, TRIAL_TEXTS, find_example};

use self::act::FormAction;
use self::draft::EditDraft;
use self::editing::Editing;
use self::place_description::question_of;
use crate::components::prism_tabs::prism_address;
use crate::replies::page::Page;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::{Visit, version_number};

/// Shows the form of a prism's latest version.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    form(&visit, &Editing::of_latest(&visit).await?).await
}

/// Shows the form of a new prism, from an example or empty.
pub(crate) async fn show_new(visit: Visit) -> Result<PageReply, PageError> {
    let from = visit.sent.query.get("from").and_then(find_example);
    let example = from.and_then(|example| PrismFile::read(example.file, None).ok());
    let draft = example.map_or_else(EditDraft::blank, |file| {
        EditDraft::of(file.name.as_str(), &file.version).into_new()
    });
    form(&visit, &Editing::new_prism(draft)).await
}

/// Returns the problems and the size of the draft as a fragment, for the script.
pub(crate) async fn check(visit: Visit) -> Result<PageReply, PageError> {
    let editing = Editing::of_form(&visit).await?;
    let checked = editing.check(&visit).await?;
    let panel = state_panel::panel(&editing, &checked);
    Ok(PageReply::html(StatusCode::OK, panel))
}

/// Carries out the action of the pressed button.
pub(crate) async fn change(visit: Visit) -> Result<PageReply, PageError> {
    let mut editing = Editing::of_form(&visit).await?;
    match visit.sent.form.get("act") {
        "save" => save(&visit, editing).await,
        "review" | "try" => review(&visit, editing).await,
        "check" => Ok(show_wrong(&visit, &mut editing).await?.reply()),
        "on_top" => {
            let shown = version_number(visit.sent.form.get("onto"));
            let shown = shown.ok_or(PageError::NoForm)?;
            editing.put_on(&visit, shown).await?;
            form(&visit, &editing).await
        }
        button => {
            let acted = act::act(&mut editing.draft, button);
            let checked = editing.check(&visit).await?;
            if visit.sent.form.has("fragment") {
                let form = form_page::inside(&editing, &checked, &acted);
                return Ok(PageReply::html(StatusCode::OK, form));
            }
            Ok(form_page::show(&visit, &editing, &checked, &acted).reply())
        }
    }
}

/// The form without an action.
async fn form(visit: &Visit, editing: &Editing) -> Result<PageReply, PageError> {
    let checked = editing.check(visit).await?;
    Ok(form_page::show(visit, editing, &checked, &FormAction::default()).reply())
}

/// Shows what saving changes and, on request, both versions on stored texts.
async fn review(visit: &Visit, editing: Editing) -> Result<PageReply, PageError> {
    let Some(prism) = &editing.prism else {
        return save(visit, editing).await;
    };
    if editing.based_on != Some(prism.latest_version) {
        return meanwhile_page::show(visit, &editing).await;
    }
    let selector = visit.prism()?;
    let file = editing.draft.file();
    let prisms = visit.refract.prisms();
    let read = prisms.draft(visit.account(), &selector, &file);
    let draft = match read.await {
        Ok(draft) => draft,
        Err(refusal) => return refused(visit, editing, refusal).await,
    };
    let lens = visit.find_lens().await?;
    let most = u32::try_from(TRIAL_TEXTS).unwrap_or(u32::MAX);
    let results = visit.refract.results();
    let stored = results.newest_answered(&lens.into(), most).await?;
    let pairs = if visit.sent.form.get("act") == "try" {
        let version = &draft.file.version;
        Some(prisms.try_draft(version, &stored).await)
    } else {
        None
    };
    let shown = review_page::Review {
        editing: &editing,
        draft: &draft,
        cost: prisms.draft_trial_cost(&draft.file.version, &stored),
        pairs,
    };
    Ok(review_page::show(visit, &shown))
}

async fn save(visit: &Visit, editing: Editing) -> Result<PageReply, PageError> {
    let file = editing.draft.file();
    let (prisms, actor) = (visit.refract.prisms(), &visit.actor());
    let saved = if editing.prism.is_none() {
        prisms.create(actor, &file).await
    } else {
        let selector = visit.prism()?;
        let saving = prisms.save_version(actor, &selector, &file, editing.based_on);
        saving.await.map(|(prism, _)| prism)
    };
    match saved {
        Ok(prism) => {
            let address = format!("{}?done=saved", prism_address(&prism));
            Ok(PageReply::see_other(&address))
        }
        Err(PrismError::VersionMeanwhile { .. }) => meanwhile_page::show(visit, &editing).await,
        Err(refusal) => refused(visit, editing, refusal).await,
    }
}

/// The form again, with an error.
async fn refused(
    visit: &Visit,
    mut editing: Editing,
    refusal: PrismError,
) -> Result<PageReply, PageError> {
    if !matches!(refusal, PrismError::Invalid(_)) {
        return Err(refusal.into());
    }
    let page = show_wrong(visit, &mut editing).await?;
    Ok(page.status(StatusCode::UNPROCESSABLE_ENTITY).reply())
}

/// The form with every error at its input, and the focus on the first.
async fn show_wrong<'a>(visit: &'a Visit, editing: &mut Editing) -> Result<Page<'a>, PageError> {
    editing.is_asked = true;
    let checked = editing.check(visit).await?;
    let first = checked.problems.first().map(|problem| &problem.path);
    if let Some(place) = first.and_then(|path| question_of(path)) {
        editing.draft.fold_besides(Some(place));
    }
    let acted = FormAction {
        focus: first.cloned().unwrap_or_default(),
        message: String::new(),
    };
    Ok(form_page::show(visit, editing, &checked, &acted))
}
