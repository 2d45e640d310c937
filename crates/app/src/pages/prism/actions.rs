//! Renames, archives and restores a prism.

use actix_web::http::StatusCode;
use refract_domain::prism::DisplayName;

use super::page;
use crate::components::form_errors::describe;
use crate::components::prism_tabs::prism_address;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Renames the prism.
pub(crate) async fn rename(visit: Visit) -> Result<PageReply, PageError> {
    let selector = visit.prism()?;
    let typed = visit.sent.form.get("name");
    match DisplayName::parse(typed) {
        Ok(name) => {
            let prisms = visit.refract.prisms();
            prisms.rename(&visit.actor(), &selector, &name).await?;
            back(&visit, "renamed").await
        }
        Err(errors) => {
            let prisms = visit.refract.prisms();
            let found = prisms.overview(visit.account(), &selector).await?;
            let page = page(&visit, &found, &describe(typed, &errors)).await?;
            Ok(page.with_status(StatusCode::UNPROCESSABLE_ENTITY))
        }
    }
}

/// Archives the prism.
pub(crate) async fn archive(visit: Visit) -> Result<PageReply, PageError> {
    set_archived(&visit, true, "archived").await
}

/// Restores the prism.
pub(crate) async fn restore(visit: Visit) -> Result<PageReply, PageError> {
    set_archived(&visit, false, "restored").await
}

async fn set_archived(
    visit: &Visit,
    is_archived: bool,
    done: &str,
) -> Result<PageReply, PageError> {
    let (actor, selector) = (visit.actor(), visit.prism()?);
    let prisms = visit.refract.prisms();
    prisms.set_archived(&actor, &selector, is_archived).await?;
    back(visit, done).await
}

async fn back(visit: &Visit, done: &str) -> Result<PageReply, PageError> {
    let prism = visit.find_prism().await?;
    let address = prism_address(&prism);
    Ok(PageReply::see_other(&format!("{address}?done={done}")))
}
