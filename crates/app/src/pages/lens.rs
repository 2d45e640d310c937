//! `/prisms/{slug}/lens`: edits the columns of the prism's rows, with a preview over stored
//! results.

mod columns;
mod lens_form;
mod percent_text;
mod preview;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::account::role::Role;
use refract_domain::lens::Lens;
use refract_domain::problem::Problems;
use refract_service::lenses::{LensDraft, PrismLens};
use refract_service::prisms::PrismError;

use self::columns::{adding, columns};
use self::lens_form::LensForm;
use self::preview::preview;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::{PrismTab, prism_address};
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the saved lens, with the cutoffs of the address if there are any.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let form = LensForm::of(lens.columns().lens).with_cutoffs_of(&visit.sent.query);
    let done = visit.done(|what| match what {
        "saved" => Some("The lens is saved: every result shows it from now on, old ones too."),
        "reset" => Some("The lens is automatic again."),
        _ => None,
    });
    page(&visit, &lens, &form, done, StatusCode::OK).await
}

/// Shows the submitted draft after the pressed button's action. Nothing is saved.
pub(crate) async fn draft(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let mut form = LensForm::read(&visit.sent.form);
    form.apply(visit.sent.form.get("act"), visit.sent.form.get("add"));
    page(&visit, &lens, &form, None, StatusCode::OK).await
}

/// The preview of the submitted draft as a fragment, for the script.
pub(crate) async fn show_preview(visit: Visit) -> Result<PageReply, PageError> {
    let file = LensForm::read(&visit.sent.form).file();
    let shown = match read(&visit, &file).await? {
        Ok(draft) => preview(&draft),
        Err(problems) => html! { p.fault { bdi { (problems) } } },
    };
    Ok(PageReply::html(StatusCode::OK, shown))
}

/// Saves the submitted draft.
pub(crate) async fn save(visit: Visit) -> Result<PageReply, PageError> {
    let form = LensForm::read(&visit.sent.form);
    let (actor, prism, file) = (visit.actor(), visit.prism()?, form.file());
    let lenses = visit.refract.lenses();
    let saving = lenses.set(&actor, &prism, &file, revision(&visit));
    match saving.await {
        Ok(()) => back(&visit, "saved").await,
        Err(PrismError::Invalid(_)) => {
            let lens = visit.find_lens().await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            page(&visit, &lens, &form, None, status).await
        }
        Err(PrismError::LensMeanwhile) => meanwhile(&visit, &form).await,
        Err(refusal) => Err(refusal.into()),
    }
}

/// Returns the prism to the automatic lens.
pub(crate) async fn reset(visit: Visit) -> Result<PageReply, PageError> {
    let (actor, prism) = (visit.actor(), visit.prism()?);
    let lenses = visit.refract.lenses();
    match lenses.reset(&actor, &prism, revision(&visit)).await {
        Ok(()) => back(&visit, "reset").await,
        Err(PrismError::LensMeanwhile) => {
            let lens = visit.find_lens().await?;
            let form = LensForm::of(lens.columns().lens);
            let words = html! { "Somebody changed the lens meanwhile: this is theirs. Reset it again if you still want to." };
            conflict(&visit, &lens, &form, &words).await
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The revision of the lens that the form was made from.
fn revision(visit: &Visit) -> Option<i32> {
    visit.sent.form.get("revision").parse().ok()
}

async fn back(visit: &Visit, done: &str) -> Result<PageReply, PageError> {
    let address = prism_address(&visit.find_lens().await?.prism);
    Ok(PageReply::see_other(&format!("{address}/lens?done={done}")))
}

/// The page after another person saved the lens: it shows both the saved lens and the draft.
async fn meanwhile(visit: &Visit, form: &LensForm) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
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
    conflict(visit, &lens, form, &words).await
}

/// The page after another person changed the lens.
async fn conflict(
    visit: &Visit,
    lens: &PrismLens,
    form: &LensForm,
    words: &Markup,
) -> Result<PageReply, PageError> {
    let shown_notice = notice(NoticeKind::Refused, words);
    page(visit, lens, form, Some(shown_notice), StatusCode::CONFLICT).await
}

/// Parses a lens file by the rules for saving it. Nothing is saved.
async fn read(visit: &Visit, file: &[u8]) -> Result<Result<LensDraft, Problems>, PageError> {
    let selector = visit.prism()?;
    let lenses = visit.refract.lenses();
    match lenses.draft(visit.account(), &selector, file).await {
        Ok(draft) => Ok(Ok(draft)),
        Err(PrismError::Invalid(problems)) => Ok(Err(problems)),
        Err(refusal) => Err(refusal.into()),
    }
}

async fn page(
    visit: &Visit,
    lens: &PrismLens,
    form: &LensForm,
    shown_notice: Option<Markup>,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let read = read(visit, &form.file()).await?;
    let draft = read.as_ref().ok();
    let problems = read.as_ref().err().map_or(&[][..], Problems::as_slice);
    let address = prism_address(&lens.prism);
    let is_automatic = *lens.lens == Lens::Automatic;
    let may_change = visit.visitor.role.may(Role::Editor);
    let main = html! {
        @if let Some(shown_notice) = shown_notice { (shown_notice) }
        @if let Err(problems) = &read { (summary(problems)) }
        p.hint {
            @if is_automatic {
                span.tag { "automatic" } " One column for each question, which follows the prism. A change that you save makes the lens custom."
            } @else {
                span.tag { "custom" } " These columns stay as they are until somebody changes them."
            }
            " The lens is applied whenever a result is read: no model is asked."
        }
        form #lens method="post" action={ (address) "/lens" } data-preview={ (address) "/lens/preview" } {
            // the Enter key shows the draft
            button.unseen type="submit" name="act" value="preview" tabindex="-1" aria-hidden="true" { "Preview" }
            input type="hidden" name="revision" value=(lens.prism.lens_revision);
            div.split {
                section {
                    h2 { "Columns" }
                    p.hint { "Each shows one thing of the answer to a question. Without a name it is named after the question." }
                    (columns(form, &lens.latest, problems, draft))
                    (adding(&lens.latest))
                }
                section {
                    h2 { "What it would show" }
                    div.row {
                        button type="submit" name="act" value="preview" { "Preview" }
                        @if may_change {
                            button.main type="submit" formaction={ (address) "/lens/save" } { "Save the lens" }
                        }
                    }
                    div #preview { @if let Some(draft) = draft { (preview(draft)) } }
                }
            }
        }
        @if may_change && !is_automatic {
            form method="post" action={ (address) "/lens/reset" } {
                input type="hidden" name="revision" value=(lens.prism.lens_revision);
                button.quiet type="submit" { "Reset to automatic" }
            }
        }
    };
    let title = format!("Lens of {}", lens.prism.name);
    let page = visit.prism_page(&lens.prism, PrismTab::Lens, title, &main);
    Ok(page.script("lens.js").status(status).reply())
}

fn summary(problems: &Problems) -> Markup {
    notice(
        NoticeKind::Refused,
        &html! { "The draft breaks rules: " bdi { (problems) } },
    )
}
