//! `/prisms/{slug}/examples`: fixed texts of a prism with the answers that are right for them. Every
//! version is asked about them before it is saved, and on request.

mod addresses;
mod example_form;
mod example_list;
mod example_page;
mod gold_upload;

use std::time::Duration;

use actix_web::http::StatusCode;
use refract_domain::ids::ResultId;
use refract_file_runs::{GoldFile, GoldFormat, GoldText};
use refract_lens_rendering::Format;
use refract_service::CallError;
use refract_service::lenses::PrismLens;
use refract_service::prisms::{AskedExamples, ExampleError};
use refract_service::results::ResultDetails;

use self::addresses::to_list;
use self::example_form::ExampleForm;
use self::example_list::ExampleList;
pub(crate) use self::example_page::{change, remove, show as show_example};
pub(crate) use self::gold_upload::upload;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// How long the check of all examples may take: less than proxies wait for a reply.
const PATIENCE: Duration = Duration::from_secs(50);

/// Shows the list.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let list = ExampleList::find(&visit).await?;
    Ok(list.page(&visit, None).reply())
}

/// Shows the form of a new example, with the text of a result if the address names one.
pub(crate) async fn show_new(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let named = visit.sent.query.get("result").unwrap_or_default();
    let form = match find_result(&visit, &lens, named).await? {
        Some(details) => ExampleForm::of_result(&details, &lens),
        None if named.is_empty() => ExampleForm::default(),
        None => return Err(PageError::NotFound),
    };
    Ok(form.page(&visit, &lens).reply())
}

/// Keeps a text as an example.
pub(crate) async fn create(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let mut form = ExampleForm::sent(&visit.sent.form);
    let status = match form.read(&lens.latest) {
        None => StatusCode::UNPROCESSABLE_ENTITY,
        Some(input) => {
            let details = find_result(&visit, &lens, form.result()).await?;
            let result = details.as_ref().map(|details| &details.result);
            let (prisms, actor) = (visit.refract.prisms(), visit.actor());
            let examples = prisms.example_texts();
            match examples.keep(&actor, &lens.prism, input, result).await {
                Ok(saved) => {
                    let done = if saved.added > 0 { "kept" } else { "changed" };
                    return Ok(to_list(&lens, done));
                }
                Err(ExampleError::Internal(error)) => return Err(error.into()),
                Err(refusal @ (ExampleError::TooMany(_) | ExampleError::ResultGone)) => {
                    form.refuse(&refusal);
                    StatusCode::CONFLICT
                }
            }
        }
    };
    Ok(form.page(&visit, &lens).status(status).reply())
}

/// Asks the latest version about every example.
pub(crate) async fn check(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    if lens.prism.archived_at.is_none() {
        let examples = visit.refract.prisms().example_texts();
        let (prism, version) = (&lens.prism, &lens.latest);
        let asking = examples.ask(prism, version, AskedExamples::All, PATIENCE);
        asking.await?;
    }
    Ok(to_list(&lens, "checked"))
}

/// Sends the examples as a gold file. An example that lacks a field of the latest version is left
/// out: the file would give it an empty value.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let lens = visit.find_lens().await?;
    let (prism, version) = (&lens.prism, &lens.latest);
    let examples = visit.refract.prisms().example_texts();
    let checked = examples.checked(prism, version).await?;
    let texts = GoldText::of_examples(&checked, version);
    examples.record_download(&visit.actor(), prism).await?;
    let mut bytes = Vec::new();
    // writing to a `Vec` cannot fail
    let format = GoldFile::write(version, &texts, &mut bytes).unwrap_or(GoldFormat::Csv);
    let format = match format {
        GoldFormat::Csv => Format::Csv,
        GoldFormat::JsonLines => Format::Jsonl,
    };
    let name = format!("{}-examples.{}", prism.slug, format.name());
    Ok(PageReply::file(&name, format.content_type(), bytes))
}

/// A result of the prism; `None` for another text, and where there is no such result.
async fn find_result(
    visit: &Visit,
    lens: &PrismLens,
    named: &str,
) -> Result<Option<ResultDetails>, PageError> {
    let Some(id) = ResultId::parse(named) else {
        return Ok(None);
    };
    match visit.refract.results().details(visit.account(), id).await {
        Ok(details) => Ok(Some(details).filter(|it| it.result.prism().id == lens.prism.id)),
        Err(CallError::Internal(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}
