//! Budgets of accounts for a calendar month, and what file runs hold back of them: the estimated cost
//! of their rows in flight. Work that ends without a word loses its hold when that expires. What a
//! month has cost is read from the sums of usage.

use chrono::{DateTime, NaiveDate, Utc};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::account::MonthBudget;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, BudgetHolderId};
use refract_domain::result::Cost;

use crate::connections::{find_as, for_no_key_update, for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::queries::ledger::usage::{CountedCost, OPEN_COST, OpenCost};
use crate::queries::prisms::row::WriteOutcome;
use crate::schema::sql_types::{Bind, Id};
use crate::schema::stored::Stored;
use crate::schema::{account_budgets, accounts, budget_holds};

/// The budget of an account, and which share of it was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = account_budgets)]
pub struct BudgetRow {
    /// The account.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// The budget.
    #[diesel(column_name = budget_nanos, deserialize_as = Stored<account_budgets::budget_nanos>)]
    pub budget: MonthBudget,
    /// The first day in UTC of the month in which a share was announced.
    #[diesel(deserialize_as = Stored<account_budgets::month>)]
    pub month: NaiveDate,
    /// The share of the budget, in percent, that was announced in that month; 0 for none.
    pub announced_percent: i32,
}

#[boxed]
impl Database {
    /// Sets or removes the budget of the stamp's account, with an event. A budget that is set
    /// already is left unchanged. Shares of another budget are announced anew. One transaction.
    pub async fn set_budget(
        &self,
        budget: Option<MonthBudget>,
        stamp: EventStamp,
    ) -> Result<WriteOutcome, PersistenceError> {
        let account = stamp.account;
        let stored = account_budgets::table.find(Bind(account));
        self.begin(async move |mut tx| {
            // there may be no budget to lock; holds, which refer to the account, may be made meanwhile
            let owner = accounts::table.find(Bind(account)).select(accounts::id);
            let _: AccountId = on!(tx, get_result(for_no_key_update(owner)))?;
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
                        account_budgets::month.eq(NaiveDate::MIN.to_epoch_days()),
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

    /// Records that a share of a budget was used in a month, with an event, if neither this share
    /// nor a larger one was announced and the budget is the one that was read. One transaction.
    pub async fn announce_budget_share(
        &self,
        read: BudgetRow,
        month: NaiveDate,
        percent: i32,
        event: Event,
    ) -> Result<WriteOutcome, PersistenceError> {
        let month = month.to_epoch_days();
        let unannounced = account_budgets::table
            .find(Bind(read.account))
            .filter(account_budgets::budget_nanos.eq(budget_column(read.budget)))
            .filter(
                account_budgets::month.lt(month).or(account_budgets::month
                    .eq(month)
                    .and(account_budgets::announced_percent.lt(percent))),
            );
        self.begin(async move |mut tx| {
            let update = diesel::update(unannounced).set((
                account_budgets::month.eq(month),
                account_budgets::announced_percent.eq(percent),
            ));
            if on!(tx, execute(update))? == 0 {
                return Ok(WriteOutcome::Stale);
            }
            commit_with(tx, event).await?;
            Ok(WriteOutcome::Saved)
        })
        .await
    }
}

/// Work on a file run that holds back a part of its account's budget.
#[derive(Clone, Copy, Debug)]
pub struct BudgetHolder {
    /// The account.
    pub account: AccountId,
    /// The work.
    pub holder: BudgetHolderId,
}

/// What is left of a budget, before the holder's own hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLeft {
    /// The whole budget.
    pub budget: Cost,
    /// What the month has cost.
    pub spent: Cost,
    /// What other work holds back.
    pub held_by_others: Cost,
}

#[boxed]
impl Database {
    /// Replaces the hold of some work by what `decide` makes of the rest of the budget, until a
    /// moment. What was `counted` of the month's cost grows by that of newer results. Work that
    /// decides at the same time waits, so that no rest is held twice. Returns whether the account has
    /// a budget. One transaction.
    pub async fn hold_budget(
        &self,
        BudgetHolder { account, holder }: BudgetHolder,
        counted: CountedCost,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
        decide: impl FnOnce(BudgetLeft) -> Cost + Send + 'static,
    ) -> Result<bool, PersistenceError> {
        let stored = account_budgets::table.find(Bind(account));
        let own = budget_holds::table.find(Bind(holder));
        let others = budget_holds::table
            .filter(budget_holds::account_id.eq(Bind(account)))
            .filter(budget_holds::holder.ne(Bind(holder)));
        self.begin(async move |mut tx| {
            let budget = for_update(stored.select(account_budgets::budget_nanos));
            let budget: Option<i64> = on!(tx, get_result(budget)).optional()?;
            let Some(budget) = budget.and_then(saved_budget) else {
                on!(tx, execute(diesel::delete(own)))?;
                tx.commit().await?;
                return Ok(false);
            };
            let expired = others.filter(budget_holds::expires_at.le(Bind(now)));
            on!(tx, execute(diesel::delete(expired)))?;
            let held: Vec<i64> = on!(tx, load(others.select(budget_holds::held_nanos)))?;
            let held = held
                .into_iter()
                .filter_map(|nanos| u128::try_from(nanos).ok());
            let open = sql_query(OPEN_COST)
                .bind::<Id, _>(Bind(account))
                .bind::<Id, _>(Bind(counted.up_to));
            let open: OpenCost = on!(tx, get_result(open))?;
            let left = BudgetLeft {
                budget: budget.as_cost(),
                spent: counted.with(&open)?,
                held_by_others: held.map(Cost::from_nanos).sum(),
            };
            let nanos = i64::try_from(decide(left).nanos_rounded_up()).unwrap_or(i64::MAX);
            let new = (
                budget_holds::holder.eq(Bind(holder)),
                budget_holds::account_id.eq(Bind(account)),
                budget_holds::held_nanos.eq(nanos),
                budget_holds::expires_at.eq(Bind(until)),
            );
            let save = diesel::insert_into(budget_holds::table)
                .values(new)
                .on_conflict(budget_holds::holder)
                .do_update()
                .set((
                    budget_holds::held_nanos.eq(excluded(budget_holds::held_nanos)),
                    budget_holds::expires_at.eq(excluded(budget_holds::expires_at)),
                ));
            on!(tx, execute(save))?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Releases what some work holds back.
    pub async fn release_budget(&self, holder: BudgetHolder) -> Result<(), PersistenceError> {
        let own = budget_holds::table.find(Bind(holder.holder));
        self.execute(diesel::delete(own)).await?;
        Ok(())
    }
}

/// A budget as it is stored. The largest budget fits the column.
fn budget_column(budget: MonthBudget) -> i64 {
    i64::try_from(budget.nanos()).unwrap_or(i64::MAX)
}

fn saved_budget(nanos: i64) -> Option<MonthBudget> {
    MonthBudget::from_nanos(u64::try_from(nanos).ok()?)
}
