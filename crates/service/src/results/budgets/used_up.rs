//! The error of work that a budget ends.

use refract_domain::account::month_budget::MonthBudget;

/// An account's budget was used up before the end of the month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the month's budget of {0} is used up: raise it or wait for the next month, then go on")]
pub struct BudgetUsedUp(pub MonthBudget);
