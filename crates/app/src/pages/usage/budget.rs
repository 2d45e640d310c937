//! The budget of the account for a month: its form, and a notice when most of it is used.

use maud::{Markup, html};
use refract_domain::account::month_budget::MonthBudget;
use refract_service::results::BudgetUse;

use super::usage_query::ADDRESS;
use crate::components::field::FormField;
use crate::components::form_errors::FormErrors;
use crate::components::notice::{NoticeKind, notice};
use crate::requests::form::Form;
use crate::requests::visit::Visit;

/// The name of the form's input.
const INPUT: &str = "budget";

/// Reads the budget that was sent: `None` for an empty input.
///
/// # Errors
/// The validation errors of the form.
pub(super) fn read_budget(form: &Form) -> Result<Option<MonthBudget>, FormErrors> {
    let typed = form.get(INPUT).trim();
    if typed.is_empty() {
        return Ok(None);
    }
    let mut errors = FormErrors::default();
    let read = MonthBudget::parse(typed).map_err(|error| vec![error]);
    errors.read(INPUT, typed, read).map(Some).ok_or(errors)
}

/// The message about the action before the redirect.
pub(super) fn done(what: &str) -> Option<&'static str> {
    (what == "budget")
        .then_some("The budget is saved. Paused file runs go on when somebody resumes them.")
}

/// What the month has cost, and the form.
pub(super) fn budget_section(
    visit: &Visit,
    found: Option<&BudgetUse>,
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
        h2 #budget { "Budget" }
        @if let Some(found) = found {
            p {
                "This month cost " (found.spent) " so far: " (found.percent()) " % of the budget."
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
        a href={ (ADDRESS) "#budget" } { "See the budget" } "."
    };
    notice(NoticeKind::Warning, &words)
}
