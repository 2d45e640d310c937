//! `/usage`: what the account's results asked of models, what it cost, and the budget for a month.

mod usage_query;

use actix_web::http::StatusCode;
use chrono::NaiveTime;
use maud::{Markup, html};
use refract_domain::account::MonthBudget;
use refract_service::prisms::Prism;
use refract_service::results::{
    BudgetUse, ListedUsage, SetBudgetError, UsageDimension, UsageScope, usage_csv,
};

use self::usage_query::{
    ADDRESS, NO_PRICE, UsageQuery, usage_form, usage_period, usage_table, without_cost,
};
use crate::components::{FormErrors, FormField, NoticeKind, counted, empty_state, notice};
use crate::replies::{PageError, PageReply, Section};
use crate::requests::Visit;

/// Shows the page.
pub(crate) async fn show(visit: Visit) -> Result<PageReply, PageError> {
    let query = UsageQuery::read(&visit.sent.query);
    if query.has_errors() {
        return refused(&visit, &query).await;
    }
    let listed = usage(&visit, &query).await?;
    let download = format!("{ADDRESS}/download{}", query.query.in_address());
    let rest = |prisms: &[Prism]| {
        html! {
            @if listed.is_empty() {
                (empty_state("No result was saved in this period.", &html! {}))
            } @else {
                p.row { a href=(download) download { "Download as csv" } }
                (usage_table(&query.filter.by, &listed, prisms))
            }
        }
    };
    let errors = FormErrors::default();
    page(&visit, &query, rest, &errors, StatusCode::OK).await
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
    let budget = match read_budget(visit.sent.form.get_sent(INPUT)?) {
        Ok(budget) => budget,
        Err(errors) => return budget_refused(&visit, &errors).await,
    };
    let (budgets, price) = (visit.refract.budgets(), visit.refract.token_price());
    match budgets.set(&visit.actor(), budget, price).await {
        Ok(_) => Ok(PageReply::see_other(&format!("{ADDRESS}?done=budget"))),
        Err(SetBudgetError::Internal(error)) => Err(error.into()),
        Err(error @ SetBudgetError::NoPriceKnown) => {
            let mut errors = FormErrors::default();
            errors.note(INPUT, &error);
            budget_refused(&visit, &errors).await
        }
    }
}

/// The page again, with the errors of the budget.
async fn budget_refused(visit: &Visit, errors: &FormErrors) -> Result<PageReply, PageError> {
    let query = UsageQuery::read(&visit.sent.query);
    let rest = |_: &[Prism]| empty_state("Nothing was changed.", &html! {});
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    page(visit, &query, rest, errors, status).await
}

async fn usage(visit: &Visit, query: &UsageQuery) -> Result<Vec<ListedUsage>, PageError> {
    let results = visit.refract.results();
    let scope = query.filter.clone();
    Ok(results.usage(visit.account(), scope).await?)
}

/// The form again, with an error at each invalid filter.
async fn refused(visit: &Visit, query: &UsageQuery) -> Result<PageReply, PageError> {
    let words = html! { "A filter is not valid, so nothing was added up. Change what is marked." };
    let rest = |_: &[Prism]| notice(NoticeKind::Refused, &words);
    let status = StatusCode::UNPROCESSABLE_ENTITY;
    page(visit, query, rest, &FormErrors::default(), status).await
}

async fn page(
    visit: &Visit,
    query: &UsageQuery,
    rest: impl FnOnce(&[Prism]) -> Markup,
    errors: &FormErrors,
    status: StatusCode,
) -> Result<PageReply, PageError> {
    let account = visit.account();
    let prisms = visit.refract.prisms().all(account).await?;
    let budget = visit.refract.budgets().find(account).await?;
    let unknown = match &budget {
        Some(found) => results_without_cost(visit, found).await?,
        None => 0,
    };
    let keys = visit.refract.keys().labels(account).await?;
    let main = html! {
        (budget_notice(budget.as_ref()))
        h1 { "Usage" }
        @if let Some(notice) = visit.done(done) { (notice) }
        p {
            "What your results asked of the model. Deleted results still count, by whole days. The cost is in \
             the currency of the model's host."
        }
        (usage_period(query))
        (usage_form(query, &prisms, &keys))
        (rest(&prisms))
        (budget_section(visit, budget.as_ref(), unknown, errors))
    };
    let page = visit.page("Usage", main).section(Section::Usage);
    Ok(page.status(status).reply())
}

/// The name of the form's input.
const INPUT: &str = "budget";

/// Reads the budget that was sent: `None` for an empty input.
///
/// # Errors
/// The validation errors of the form.
fn read_budget(typed: &str) -> Result<Option<MonthBudget>, FormErrors> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let mut errors = FormErrors::default();
    let read = MonthBudget::parse(typed).map_err(|error| vec![error]);
    errors.read(INPUT, typed, read).map(Some).ok_or(errors)
}

/// The message about the action before the redirect.
fn done(what: &str) -> Option<&'static str> {
    (what == "budget")
        .then_some("The budget is saved. Paused file runs go on when somebody resumes them.")
}

/// How many results of the budget's month asked a model whose cost nobody knows.
async fn results_without_cost(visit: &Visit, found: &BudgetUse) -> Result<u64, PageError> {
    let scope = UsageScope {
        // on a day its host states a model's cost, or does not
        by: [UsageDimension::Model, UsageDimension::Day].into(),
        since: Some(found.month.and_time(NaiveTime::MIN).and_utc()),
        ..UsageScope::default()
    };
    let results = visit.refract.results();
    Ok(without_cost(&results.usage(visit.account(), scope).await?))
}

/// What the month has cost, and the form. The budget counts nothing for the `unknown` results of the
/// month whose cost is not known.
fn budget_section(
    visit: &Visit,
    found: Option<&BudgetUse>,
    unknown: u64,
    errors: &FormErrors,
) -> Markup {
    let budget = found.map(|found| found.budget.to_string());
    let typed = visit.sent.form.get(INPUT);
    let value = if errors.is_empty() {
        budget.as_deref().unwrap_or_default()
    } else {
        typed
    };
    let field = FormField::new(INPUT, "Budget for each month").value(value);
    let field =
        field.hint("In the currency of the costs, such as 200. Leave it empty for no budget.");
    html! {
        h2 #monthly-budget { "Budget" }
        @if let Some(found) = found {
            p {
                "This month cost " (found.spent) " so far: " (found.percent()) " % of the budget."
            }
            @if unknown > 0 {
                (notice(NoticeKind::Warning, &html! {
                    "The budget cannot see the cost of " (counted(unknown, "result")) " of this month: " (NO_PRICE)
                }))
            }
        }
        p {
            "A month begins at midnight UTC. When its results cost as much as the budget, file runs and "
            "retests pause until a person resumes them; calls of the API go on. Results without a cost "
            "count nothing, and neither does what is asked without saving, such as retests."
        }
        form.narrow method="post" action={ (ADDRESS) "/budget" } {
            (field.errors(errors).line("text", "off"))
            button type="submit" { "Save" }
        }
    }
}

/// A notice for owners when at least 80 % of the budget is used; nothing otherwise.
pub(crate) fn budget_notice(found: Option<&BudgetUse>) -> Markup {
    let Some(found) = found.filter(|found| found.is_nearly_used()) else {
        return html! {};
    };
    let words = html! {
        @if found.check().is_err() {
            "This month's budget of " (found.budget) " is used up: file runs pause, calls of the API go on. "
        } @else {
            (found.percent()) " % of this month's budget of " (found.budget) " are used: file runs pause at 100 %. "
        }
        a href={ (ADDRESS) "#monthly-budget" } { "See the budget" } "."
    };
    notice(NoticeKind::Warning, &words)
}
