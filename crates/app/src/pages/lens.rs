//! `/prisms/{slug}/lens`: the columns of the prism's rows, drafted over stored results.

mod columns;
mod lens_form;
mod percent_text;
mod preview;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_domain::lens::Lens;
use refract_domain::problem::Problems;
use refract_domain::role::Role;
use refract_service::lenses::PrismLens;
use refract_service::prisms::PrismError;

use self::columns::{adding, columns};
use self::lens_form::LensForm;
use self::preview::preview;
use crate::components::notice::{NoticeKind, notice};
use crate::components::prism_tabs::{PrismTab, prism_address, prism_heading};
use crate::page::Section;
use crate::page_refusal::PageRefusal;
use crate::page_reply::PageReply;
use crate::visit::Visit;

/// What the page says besides the draft.
#[derive(Default)]
struct Said {
    notice: Option<Markup>,
    status: StatusCode,
}

/// Shows the lens as it is, or with the cutoffs of the address.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageRefusal> {
    let lens = visit.find_lens().await?;
    let form = LensForm::of(lens.columns().lens).with_cutoffs_of(&visit.sent.query);
    let done = match visit.sent.query.get("done") {
        Some("saved") => {
            Some("The lens is saved: every result shows it from now on, old ones too.")
        }
        Some("reset") => Some("The lens is automatic again."),
        _ => None,
    };
    let said = Said {
        notice: done.map(|words| notice(NoticeKind::Done, &html! { (words) })),
        status: StatusCode::OK,
    };
    page(&visit, &lens, &form, said).await
}

/// Shows the draft that was sent, changed by the button that was pressed. Nothing is saved.
pub(crate) async fn draft(visit: Visit) -> Result<PageReply, PageRefusal> {
    let lens = visit.find_lens().await?;
    let mut form = LensForm::read(&visit.sent.form);
    form.apply(visit.sent.form.get("act"), visit.sent.form.get("add"));
    page(&visit, &lens, &form, Said::default()).await
}

/// The preview of the draft that was sent, for the script that puts it into the page.
pub(crate) async fn show_preview(visit: Visit) -> Result<PageReply, PageRefusal> {
    let file = LensForm::read(&visit.sent.form).file();
    let account = visit.account();
    match visit
        .refract
        .lenses()
        .draft(account, &visit.prism()?, &file)
        .await
    {
        Ok(draft) => Ok(PageReply::html(StatusCode::OK, preview(&draft))),
        Err(PrismError::Invalid(problems)) => {
            let words = html! { p.fault { bdi { (problems) } } };
            Ok(PageReply::html(StatusCode::OK, words))
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// Saves the draft that was sent.
pub(crate) async fn save(visit: Visit) -> Result<PageReply, PageRefusal> {
    let form = LensForm::read(&visit.sent.form);
    let caller = &visit.caller();
    let lenses = visit.refract.lenses();
    let saved = lenses
        .set(caller, &visit.prism()?, &form.file(), revision(&visit))
        .await;
    match saved {
        Ok(()) => back(&visit, "saved").await,
        Err(PrismError::Invalid(_)) => {
            let lens = visit.find_lens().await?;
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            page(
                &visit,
                &lens,
                &form,
                Said {
                    notice: None,
                    status,
                },
            )
            .await
        }
        Err(PrismError::LensMeanwhile) => meanwhile(&visit, &form).await,
        Err(refusal) => Err(refusal.into()),
    }
}

/// Returns the prism to the automatic lens.
pub(crate) async fn reset(visit: Visit) -> Result<PageReply, PageRefusal> {
    let caller = &visit.caller();
    match visit
        .refract
        .lenses()
        .reset(caller, &visit.prism()?, revision(&visit))
        .await
    {
        Ok(()) => back(&visit, "reset").await,
        Err(PrismError::LensMeanwhile) => {
            let lens = visit.find_lens().await?;
            let form = LensForm::of(lens.columns().lens);
            let words = html! { "Somebody changed the lens meanwhile: this is theirs. Reset it again if you still want to." };
            let said = Said {
                notice: Some(notice(NoticeKind::Refused, &words)),
                status: StatusCode::CONFLICT,
            };
            page(&visit, &lens, &form, said).await
        }
        Err(refusal) => Err(refusal.into()),
    }
}

/// The revision of the lens that the form began with.
fn revision(visit: &Visit) -> Option<i32> {
    visit.sent.form.get("revision").parse().ok()
}

async fn back(visit: &Visit, done: &str) -> Result<PageReply, PageRefusal> {
    let address = prism_address(&visit.find_lens().await?.prism);
    Ok(PageReply::see_other(&format!("{address}/lens?done={done}")))
}

/// The page after somebody else saved a lens: theirs is shown beside the draft, which stays.
async fn meanwhile(visit: &Visit, form: &LensForm) -> Result<PageReply, PageRefusal> {
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
    let said = Said {
        notice: Some(notice(NoticeKind::Refused, &words)),
        status: StatusCode::CONFLICT,
    };
    page(visit, &lens, form, said).await
}

async fn page(
    visit: &Visit,
    lens: &PrismLens,
    form: &LensForm,
    said: Said,
) -> Result<PageReply, PageRefusal> {
    let account = visit.account();
    let selector = visit.prism()?;
    let (draft, problems) = match visit
        .refract
        .lenses()
        .draft(account, &selector, &form.file())
        .await
    {
        Ok(draft) => (Some(draft), None),
        Err(PrismError::Invalid(problems)) => (None, Some(problems)),
        Err(refusal) => return Err(refusal.into()),
    };
    let address = prism_address(&lens.prism);
    let is_automatic = *lens.lens == Lens::Automatic;
    let may_change = visit.visitor.role.may(Role::Editor);
    let main = html! {
        (prism_heading(&lens.prism, PrismTab::Lens, visit.visitor.role))
        @if let Some(notice) = said.notice { (notice) }
        @if let Some(problems) = &problems { (summary(problems)) }
        p.hint {
            @if is_automatic {
                span.tag { "automatic" } " One column for each question, which follows the prism. A change that you save makes the lens custom."
            } @else {
                span.tag { "custom" } " These columns stay as they are until somebody changes them."
            }
            " The lens is applied whenever a result is read: no model is asked."
        }
        form #lens method="post" action={ (address) "/lens" } data-preview={ (address) "/lens/preview" } {
            // Enter in an input shows the draft
            button.unseen type="submit" name="act" value="preview" tabindex="-1" aria-hidden="true" { "Preview" }
            input type="hidden" name="revision" value=(lens.prism.lens_revision);
            div.split {
                section {
                    h2 { "Columns" }
                    p.hint { "Each shows one thing of the answer to a question. Without a name it is named after the question." }
                    (columns(form, &lens.latest, problems.as_ref(), draft.as_ref()))
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
                    div #preview { @if let Some(draft) = &draft { (preview(draft)) } }
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
    let page = visit.page(title, main).section(Section::Prisms);
    Ok(page.script("lens.js").status(said.status).reply())
}

fn summary(problems: &Problems) -> Markup {
    notice(
        NoticeKind::Refused,
        &html! { "The draft breaks rules: " bdi { (problems) } },
    )
}
