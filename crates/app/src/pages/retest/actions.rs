//! The changes of a retest that people make.

use actix_web::http::StatusCode;
use refract_domain::result::retest::RetestChange;
use refract_service::measures::stored_retests::{ChangeRetestOutcome, MOST_RETESTS_UNDER_WAY};

use super::page;
use super::retest_view::find;
use crate::components::retest::retest_address;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Stops the retest.
pub(crate) async fn stop(visit: Visit) -> Result<PageReply, PageError> {
    change(&visit, RetestChange::Interrupt, "?done=stopped").await
}

/// Lets the retest ask about the texts without new answers.
pub(crate) async fn resume(visit: Visit) -> Result<PageReply, PageError> {
    change(&visit, RetestChange::Continue, "").await
}

async fn change(visit: &Visit, change: RetestChange, done: &str) -> Result<PageReply, PageError> {
    let view = find(visit).await?;
    let prism = &view.lens.prism;
    let address = retest_address(prism, view.retest.id);
    if change == RetestChange::Continue && prism.archived_at.is_some() {
        let fault = "The prism is archived, so no model is asked.";
        return page(visit, &view, fault, StatusCode::CONFLICT).await;
    }
    let retests = visit.refract.retests();
    let fault = match retests
        .change(&visit.actor(), view.retest.id, change)
        .await?
    {
        ChangeRetestOutcome::Changed => {
            return Ok(PageReply::see_other(&format!("{address}{done}")));
        }
        ChangeRetestOutcome::NotFound => return Err(PageError::NotFound),
        ChangeRetestOutcome::NotPossible => {
            "The retest was changed meanwhile, so nothing was done. This is how it is now."
                .to_owned()
        }
        ChangeRetestOutcome::UnderWay(_) => {
            "Another retest of this prism is under way: wait for it, or stop it.".to_owned()
        }
        ChangeRetestOutcome::TooMany => format!(
            "{MOST_RETESTS_UNDER_WAY} retests of the account are under way: wait for one, or stop it."
        ),
    };
    let view = find(visit).await?;
    page(visit, &view, &fault, StatusCode::CONFLICT).await
}
