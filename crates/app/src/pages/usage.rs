//! `/usage`: what the account's results asked of models, what it cost, and the budget for a month.

mod budget;
mod usage_form;
mod usage_query;
mod usage_table;

use actix_web::http::StatusCode;
use maud::{Markup, html};
use refract_service::results::{ListedUsage, usage_csv};

pub(crate) use self::budget::budget_notice;
use self::budget::{budget_section, done, read_budget};
use self::usage_form::usage_form;
use self::usage_query::{ADDRESS, UsageQuery};
use self::usage_table::usage_table;
use crate::components::empty_state::empty_state;
use crate::components::form_errors::FormErrors;
use crate::components::notice::{NoticeKind, notice};
use crate::replies::page::Section;
use crate::replies::page_error::PageError;
use crate::replies::page_reply::PageReply;
use crate::requests::visit::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let query = UsageQuery::read(&visit.sent.query);
    if query.has_errors() {
        return refused(&visit, &query).await;
    }
    let listed = usage(&visit, &query).await?;
    let download = format!("{ADDRESS}/download{}", query.query.in_address());
    let rest = html! {
        @if listed.is_empty() {
            (empty_state("No result was saved in this period.", &html! {}))
        } @else {
            p.row { a href=(download) download { "Download as csv" } }
            (usage_table(&query.filter.by, &listed))
        }
    };
    let errors = FormErrors::default();
    page(&visit, &query, &rest, &errors, StatusCode::OK).await
}

/// Sends the sums as a file.
pub(crate) async fn download(visit: Visit) -> Result<PageReply, PageError> {
    let query = UsageQuery::read(&visit.sent.query);
    if query.has_errors() {
        return refused(&visit, &query).await;
    }
    let listed = usage(&visit, &query).await?;
    let csv = usage_csv(&query.filter.by, &listed);
    Ok(PageReply::file("usage.csv", "text/csv; charset=utf-8", csv))
}

/// Sets the budget for a month, or removes it.
pub(crate) async fn set_budget(visit: Visit) -> Result<PageReply, PageError> {
    let budget = match read_budget(&visit.sent.form) {
        Ok(budget) => budget,
        Err(errors) => {
            let query = UsageQuery::read(&visit.sent.query);
            let rest = empty_state("Nothing was changed.", &html! {});
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            return page(&visit, &query, &rest, &errors, status).await;
        }
    };
    let budgets = visit.refract.budgets();
    budgets.set(&visit.actor(), budget).await?;
    Ok(PageReply::see_other(&format!("{ADDRESS}?done=budget")))
}

async fn usage(visit: &Visit, query: &UsageQuery) -> Result<Vec<ListedUsage>, PageError> {
    let results = visit.refract.results();
    let scope = query.filter.clone();
    Ok(results.usage(visit.account(), scope).await?)
}

/// The form again, with an error at each invalid filter.
async fn refused(visit: &Visit, query: &UsageQuery) -> Result<PageReply, PageError> {
    let words =
        html! { "A filter cannot be read, so nothing was added up. Change what is marked." };
    let rest = notice(NoticeKind::Refused, &words);
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    page(visit, query, &rest, &FormErrors::default(), status).await
}

async fn page(
    visit: &Visit,
    query: &UsageQuery,
    rest: &Markup,
    errors: &FormErrors,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let account = visit.account();
    let prisms = visit.refract.prisms().all(account).await?;
    let budget = visit.refract.budgets().find(account).await?;
    let keys = visit.refract.keys().labels(account).await?;
    let main = html! {
        (budget_notice(budget.as_ref()))
        h1 { "Usage" }
        @if let Some(notice) = visit.done(done) { (notice) }
        p {
            "What your results asked of the model. Deleted results still count, by whole days. The cost is in \
             the currency of the model's host."
        }
        (usage_form(query, &prisms, &keys))
        (rest)
        (budget_section(visit, budget.as_ref(), errors))
    };
    let page = visit.page("Usage", main).section(Section::Usage);
    Ok(page.status(status).reply())
}
