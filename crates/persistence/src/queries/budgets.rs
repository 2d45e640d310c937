//! Budgets of accounts for a calendar month. What the month has cost is read from the sums of usage;
//! it is kept with the id up to which it was read, so that a look reads the newest results only.

mod holds;

use chrono::NaiveDate;
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_domain::account::month_budget::MonthBudget;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::cost::Cost;

pub use self::holds::{BudgetHolder, BudgetLeft};
use crate::connections::{find_as, for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::counts::number_of;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::queries::prisms::row::WriteOutcome;
use crate::queries::results::row::cost_columns;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{account_budgets, accounts};

/// The budget of an account, and what was counted of a month.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = account_budgets)]
pub struct BudgetRow {
    /// The account.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// The budget.
    #[diesel(column_name = budget_nanos, deserialize_as = Stored<account_budgets::budget_nanos>)]
    pub budget: MonthBudget,
    /// The month that was read last.
    #[diesel(embed)]
    pub counted: CountedMonth,
    /// The share of the budget, in percent, that was announced in the month; 0 for none.
    pub announced_percent: i32,
}

/// What a month had cost when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = account_budgets)]
pub struct CountedMonth {
    /// The first day of the month in UTC.
    #[diesel(deserialize_as = Stored<account_budgets::month>)]
    pub month: NaiveDate,
    /// The cost is that of the month's results with ids up to this one, deleted ones among them.
    #[diesel(column_name = counted_to)]
    pub up_to: ResultId,
    /// The cost.
    #[diesel(select_expression = (account_budgets::cost_nanos, account_budgets::cost_attos))]
    #[diesel(deserialize_as = Stored<(account_budgets::cost_nanos, account_budgets::cost_attos)>)]
    pub cost: Cost,
}

impl Database {
    /// Sets or removes the budget of the stamp's account, with an event. A budget that is set
    /// already is left unchanged. What was read of the month stays; shares of another budget are
    /// announced anew. One transaction.
    pub async fn set_budget(
        &self,
        budget: Option<MonthBudget>,
        stamp: EventStamp,
    ) -> Result<WriteOutcome, PersistenceError> {
        let account = stamp.account;
        let stored = account_budgets::table.find(Bind(account));
        self.begin(async move |mut tx| {
            // there may be no budget to lock
            let owner = accounts::table.find(Bind(account)).select(accounts::id);
            let _: AccountId = on!(tx, get_result(for_update(owner)))?;
            let before = stored.select(account_budgets::budget_nanos);
            let before: Option<i64> = on!(tx, get_result(before)).optional()?;
            if before == budget.map(budget_column) {
                return Ok(WriteOutcome::Stale);
            }
            match budget {
                None => {
                    on!(tx, execute(diesel::delete(stored)))?;
                }
                Some(budget) => {
                    let new = (
                        account_budgets::account_id.eq(Bind(account)),
                        account_budgets::budget_nanos.eq(budget_column(budget)),
                        // nothing was read: a month that is over
                        account_budgets::month.eq(number_of(NaiveDate::MIN)),
                        account_budgets::counted_to.eq(Bind(ResultId::LOWEST)),
                        account_budgets::cost_nanos.eq(0),
                        account_budgets::cost_attos.eq(0),
                        account_budgets::announced_percent.eq(0),
                    );
                    let save = diesel::insert_into(account_budgets::table)
                        .values(new)
                        .on_conflict(account_budgets::account_id)
                        .do_update()
                        .set((
                            account_budgets::budget_nanos
                                .eq(excluded(account_budgets::budget_nanos)),
                            account_budgets::announced_percent
                                .eq(excluded(account_budgets::announced_percent)),
                        ));
                    on!(tx, execute(save))?;
                }
            }
            let target = EventTarget::Account(account);
            let before = before.and_then(saved_budget);
            let event = Event {
                from: before.map(EventDetail::from),
                to: budget.map(EventDetail::from),
                ..stamp.event(EventAction::BudgetSet, target)
            };
            commit_with(tx, event).await?;
            Ok(WriteOutcome::Saved)
        })
        .await
    }

    /// The budget of an account; `None` for an account without one.
    pub async fn find_budget(
        &self,
        account: AccountId,
    ) -> Result<Option<BudgetRow>, PersistenceError> {
        let query = account_budgets::table.find(Bind(account));
        let database = self.without_lanes();
        find_as!(database, query, BudgetRow).await
    }

    /// Every budget, in the order of the accounts' ids.
    pub async fn list_budgets(&self) -> Result<Vec<BudgetRow>, PersistenceError> {
        let query = account_budgets::table.order(account_budgets::account_id);
        load_as!(self, query, BudgetRow).await
    }

    /// Stores what a month had cost, if nothing else was stored since `read`, so that an older sum
    /// replaces no newer one. Another month begins with no share announced.
    pub async fn keep_counted_month(
        &self,
        account: AccountId,
        read: CountedMonth,
        counted: CountedMonth,
    ) -> Result<WriteOutcome, PersistenceError> {
        let (nanos, attos) = cost_columns(counted.cost);
        let is_new_month = read.month != counted.month;
        let as_read = account_budgets::table
            .find(Bind(account))
            .filter(account_budgets::month.eq(number_of(read.month)))
            .filter(account_budgets::counted_to.eq(Bind(read.up_to)));
        let update = diesel::update(as_read).set((
            account_budgets::month.eq(number_of(counted.month)),
            account_budgets::counted_to.eq(Bind(counted.up_to)),
            account_budgets::cost_nanos.eq(nanos),
            account_budgets::cost_attos.eq(attos),
            is_new_month.then(|| account_budgets::announced_percent.eq(0)),
        ));
        let moved = self.execute(update).await?;
        Ok(WriteOutcome::of(moved == 1))
    }

    /// Records that a share of a budget was used in a month, with an event, if neither this share
    /// nor a larger one was announced and the budget is the one that was read. One transaction.
    pub async fn announce_budget_share(
        &self,
        read: BudgetRow,
        month: NaiveDate,
        percent: i32,
        event: Event,
    ) -> Result<WriteOutcome, PersistenceError> {
        let unannounced = account_budgets::table
            .find(Bind(read.account))
            .filter(account_budgets::budget_nanos.eq(budget_column(read.budget)))
            .filter(account_budgets::month.eq(number_of(month)))
            .filter(account_budgets::announced_percent.lt(percent));
        self.begin(async move |mut tx| {
            let update =
                diesel::update(unannounced).set(account_budgets::announced_percent.eq(percent));
            if on!(tx, execute(update))? == 0 {
                return Ok(WriteOutcome::Stale);
            }
            commit_with(tx, event).await?;
            Ok(WriteOutcome::Saved)
        })
        .await
    }
}

/// A budget as it is stored. The largest budget fits the column.
fn budget_column(budget: MonthBudget) -> i64 {
    i64::try_from(budget.nanos()).unwrap_or(i64::MAX)
}

fn saved_budget(nanos: i64) -> Option<MonthBudget> {
    MonthBudget::from_nanos(u64::try_from(nanos).ok()?)
}
