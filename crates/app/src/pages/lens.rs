//! `/prisms/{slug}/lens`: one question's cutoffs over its stored probabilities, what they change in
//! stored results, the columns of the lens, and its history.
//!
//! A draft is kept on the server with every change, and each form ends in a redirect, so that neither
//! Back nor Reload loses or repeats anything.

pub(crate) mod changed;
mod columns;
mod history;
mod lens_form;
mod lens_page;
mod marks;
mod notices;
mod panel;
mod preview;
mod state;

use std::slice;

use actix_web::http::StatusCode;
use maud::html;
use refract_domain::account::Role;
use refract_domain::event::EventDetail;
use refract_identity::people::AccountActor;
use refract_service::drafts::DraftRevision;
use refract_service::lenses::{LensHistory, LensSaveOutcome, PrismLens};
use refract_service::prisms::PrismError;

use self::history::STATES;
use self::lens_form::LensForm;
use self::lens_page::{LensPage, count_draft};
use self::marks::{marked_answers, recommended};
use self::notices::{IN_FORCE, OVER};
use self::preview::preview;
use self::state::{
    Keeping, LensDraftForm, LensView, address, based_on, cutoffs_query, discard as discard_draft,
    discard_saved, find, keep,
};
use crate::replies::{PageError, PageReply};
use crate::requests::Visit;

pub(crate) use self::history::{PUT_BACK, download_change, put_back_form, show_change};

/// Shows the visitor's draft or the saved lens, with the cutoffs of the address if there are any.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let query = &visit.sent.query;
    let mut draft = find(&visit, &lens).await?;
    let text = |name| query.get(name).unwrap_or_default();
    let form = draft.form.with_view(text("column"), text("open"));
    draft.form = form.with_cutoffs_of(query);
    let page = LensPage {
        visit: &visit,
        lens: &lens,
        draft: &draft,
        view: &LensView::of_query(query),
        notice: notices::after_redirect(&visit, &lens, &draft).await?,
        status: StatusCode::OK,
    };
    page.reply().await
}

/// Keeps the submitted draft after the pressed button's action. Nothing is live.
pub(crate) async fn draft(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let sent = &visit.sent.form;
    let mut form = LensForm::read(sent);
    form.apply(sent.get("act"), sent.get("add"), &lens.latest);
    if sent.get("act") == "advise" {
        advise(&visit, &lens, &mut form).await?;
    }
    let view = LensView::of_form(sent);
    keep_and_show(&visit, &lens, form, view, None).await
}

/// Keeps the submitted draft and replies with what it changes as a fragment, for the script.
pub(crate) async fn show_preview(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let form = LensForm::read(&visit.sent.form);
    let rows = LensView::of_form(&visit.sent.form).rows(&form);
    let kept = if may_change(&visit) {
        Some(keep(&visit, &lens, &form).await?)
    } else {
        None
    };
    let counted = count_draft(&visit, &form, rows).await?;
    let states = saved_meanwhile(&visit, &lens).await?;
    let page = address(&lens.prism, &[]);
    let shown = html! {
        @match kept {
            Some(Keeping::Kept(revision)) => { span #kept hidden data-draft=(revision.number()) {} },
            Some(Keeping::Meanwhile(present)) => (notices::draft_meanwhile(&lens, present)),
            None => {}
        }
        @if let Some(states) = &states { (notices::lens_meanwhile(states, based_on(&visit, &lens))) }
        @match &counted {
            Ok(draft) => (preview(draft, rows, &form)),
            Err(problems) => {
                @for problem in problems.as_slice() {
                    p.fault data-path=(problem.path) {
                        @if panel::place_of(problem) == form.chosen() { (panel::fault_message(problem)) }
                        @else { (lens_page::faults(slice::from_ref(problem), &form, &page)) }
                    }
                }
            }
        }
    };
    Ok(PageReply::html(StatusCode::OK, shown))
}

/// The history with a lens that was saved since the draft began and that the page does not show yet.
async fn saved_meanwhile(
    visit: &Visit,
    lens: &PrismLens,
) -> Result<Option<LensHistory>, PageError> {
    let now = lens.prism.lens_revision;
    let is_shown = visit.sent.form.get(IN_FORCE).parse() == Ok(now);
    if !may_change(visit) || is_shown || based_on(visit, lens) == now {
        return Ok(None);
    }
    let (lenses, selector) = (visit.refract.lenses(), lens.prism.selector());
    let history = lenses.history(visit.account(), &selector, STATES);
    Ok(Some(history.await?))
}

/// Some results at every percent of a column as a fragment, for the script.
pub(crate) async fn show_sample(visit: Visit) -> Result<PageReply, PageError> {
    let selector = visit.prism()?;
    let column = visit.sent.form.get("name");
    let lenses = visit.refract.lenses();
    let sample = lenses.sample(visit.account(), &selector, column).await?;
    Ok(PageReply::html(StatusCode::OK, preview::sample(&sample)))
}

/// Saves the submitted draft as the lens.
pub(crate) async fn save(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let form = LensForm::read(&visit.sent.form);
    let Some(actor) = noted(&visit) else {
        return keep_and_show(&visit, &lens, form, LensView::default(), Some("note")).await;
    };
    let (prism, file) = (visit.prism()?, form.file());
    let lenses = visit.refract.lenses();
    // the choice to save over another lens names it: nobody overwrites one that they did not see
    let over = visit.sent.form.get(OVER).parse().ok();
    let replaced = over.or_else(|| revision(&visit));
    match lenses.set(&actor, &prism, &file, replaced).await {
        Ok(outcome) => saved(&visit, &lens, &form, outcome, "saved").await,
        // the page shows the draft's faults, or both lenses
        Err(PrismError::Invalid(_) | PrismError::LensMeanwhile) => {
            let now = visit.find_lens().await?;
            keep_and_show(&visit, &now, form, LensView::default(), None).await
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// Returns the prism to the automatic lens.
pub(crate) async fn reset(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let form = LensForm::read(&visit.sent.form);
    let (actor, prism) = (
        noted(&visit).unwrap_or_else(|| visit.actor()),
        visit.prism()?,
    );
    let lenses = visit.refract.lenses();
    match lenses.reset(&actor, &prism, revision(&visit)).await {
        Ok(outcome) => saved(&visit, &lens, &form, outcome, "reset").await,
        Err(PrismError::LensMeanwhile) => Ok(redirect(&lens, &form, "meanwhile")),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Puts back a state of the history: the one before a change to undo it, or any other.
pub(crate) async fn put_back(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let form = LensForm::default();
    let state = visit.sent.form.get("state").parse();
    let state = state.map_err(|_| PageError::NotFound)?;
    let (actor, prism) = (visit.actor(), visit.prism()?);
    let lenses = visit.refract.lenses();
    match lenses
        .put_back(&actor, &prism, state, revision(&visit))
        .await
    {
        Ok(LensSaveOutcome::Saved { revision }) => {
            let query = [
                ("done", "put-back".to_owned()),
                ("saved", revision.to_string()),
                ("state", state.to_string()),
            ];
            Ok(PageReply::see_other(&address(&lens.prism, &query)))
        }
        Ok(LensSaveOutcome::Unchanged) => Ok(redirect(&lens, &form, "unchanged")),
        Err(PrismError::LensMeanwhile) => Ok(redirect(&lens, &form, "meanwhile")),
        Err(PrismError::Invalid(_)) => Ok(redirect(&lens, &form, "gone")),
        Err(refusal) => Err(refusal.into()),
    }
}

/// Discards the visitor's draft.
pub(crate) async fn discard(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let form = LensForm::read(&visit.sent.form);
    match discard_draft(&visit, &lens).await? {
        Keeping::Kept(_) => Ok(redirect(&lens, &form, "discarded")),
        Keeping::Meanwhile(present) => draft_conflict(&visit, &lens, form, present).await,
    }
}

/// The revision of the lens that the form was made from.
fn revision(visit: &Visit) -> Option<i32> {
    visit.sent.form.get("revision").parse().ok()
}

fn may_change(visit: &Visit) -> bool {
    visit.visitor.role.may(Role::Editor)
}

/// The visitor with the note of the form; `None` if it cannot be a note.
fn noted(visit: &Visit) -> Option<AccountActor> {
    let note = visit.sent.form.get("note");
    if note.trim().is_empty() {
        return Some(visit.actor());
    }
    let note = EventDetail::note(note).ok()?;
    Some(visit.actor().with_note(note))
}

/// The redirect after a lens was saved, whose draft is no draft any more.
async fn saved(
    visit: &Visit,
    lens: &PrismLens,
    form: &LensForm,
    outcome: LensSaveOutcome,
    done: &'static str,
) -> Result<PageReply, PageError> {
    discard_saved(visit, lens, form).await?;
    let LensSaveOutcome::Saved { revision } = outcome else {
        return Ok(redirect(lens, form, "unchanged"));
    };
    let mut query = LensView::default().query(form);
    query.extend([("done", done.to_owned()), ("saved", revision.to_string())]);
    Ok(PageReply::see_other(&address(&lens.prism, &query)))
}

fn redirect(lens: &PrismLens, form: &LensForm, done: &'static str) -> PageReply {
    let mut query = LensView::default().query(form);
    query.push(("done", done.to_owned()));
    PageReply::see_other(&address(&lens.prism, &query))
}

/// Keeps a draft and shows its page. The draft of somebody who may not save is its address.
async fn keep_and_show(
    visit: &Visit,
    lens: &PrismLens,
    form: LensForm,
    view: LensView,
    done: Option<&'static str>,
) -> Result<PageReply, PageError> {
    let mut query = view.query(&form);
    query.extend(done.map(|done| ("done", done.to_owned())));
    if !may_change(visit) {
        query.extend(cutoffs_query(lens, &form));
        return Ok(PageReply::see_other(&address(&lens.prism, &query)));
    }
    match keep(visit, lens, &form).await? {
        Keeping::Kept(_) => Ok(PageReply::see_other(&address(&lens.prism, &query))),
        Keeping::Meanwhile(present) => draft_conflict(visit, lens, form, present).await,
    }
}

/// The page with the submitted form after the draft was changed in another tab. Nothing is kept yet:
/// the next button keeps it.
async fn draft_conflict(
    visit: &Visit,
    lens: &PrismLens,
    form: LensForm,
    present: DraftRevision,
) -> Result<PageReply, PageError> {
    let draft = LensDraftForm {
        form,
        based_on: based_on(visit, lens),
        revision: present,
        saved_at: None,
    };
    let page = LensPage {
        visit,
        lens,
        draft: &draft,
        view: &LensView::of_form(&visit.sent.form),
        notice: Some(notices::draft_meanwhile(lens, present)),
        status: StatusCode::CONFLICT,
    };
    page.reply().await
}

/// Puts the cutoffs that are recommended for the wanted precision into the column in the middle, if
/// there are any.
async fn advise(visit: &Visit, lens: &PrismLens, form: &mut LensForm) -> Result<(), PageError> {
    let Some(column) = form.chosen_column() else {
        return Ok(());
    };
    let question = column.question().to_owned();
    let marked = marked_answers(visit, lens, &question).await?;
    let wanted = visit.sent.form.get("precision");
    let cutoffs = marked.and_then(|marked| recommended(&marked, wanted));
    if let Some((column, cutoffs)) = form.chosen_column_mut().zip(cutoffs) {
        column.set_cutoffs(cutoffs);
    }
    Ok(())
}
