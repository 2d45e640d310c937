//! What file runs hold back of a budget: the estimated cost of their rows in flight. Work that ends
//! without a word loses its hold when that expires.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable};
use diesel::upsert::excluded;
use refract_domain::ids::{AccountId, BudgetHolderId, ResultId};
use refract_domain::result::cost::Cost;

use super::BudgetRow;
use crate::connections::{CUSTOM_PLAN, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::row::saved_cost;
use crate::schema::sql_types::{Bind, Id};
use crate::schema::{account_budgets, budget_holds};

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

impl Database {
    /// Replaces the hold of some work by what `decide` makes of the rest of the budget, until a
    /// moment. Work that decides at the same time waits, so that no rest is held twice. Returns
    /// whether the account has a budget. One transaction.
    pub async fn hold_budget(
        &self,
        BudgetHolder { account, holder }: BudgetHolder,
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
            let locked = for_update(stored.select(account_budgets::account_id));
            let locked: Option<AccountId> = on!(tx, get_result(locked)).optional()?;
            if locked.is_none() {
                on!(tx, execute(diesel::delete(own)))?;
                tx.commit().await?;
                return Ok(false);
            }
            let row = on!(tx, get_result(stored) as BudgetRow)?;
            let expired = others.filter(budget_holds::expires_at.le(Bind(now)));
            on!(tx, execute(diesel::delete(expired)))?;
            let held: Vec<i64> = on!(tx, load(others.select(budget_holds::held_nanos)))?;
            let held = held
                .into_iter()
                .filter_map(|nanos| u128::try_from(nanos).ok());
            let open = sql_query(OPEN_COST)
                .bind::<Id, _>(Bind(account))
                .bind::<Id, _>(Bind(row.counted.up_to));
            let open: CostColumns = on!(tx, get_result(open))?;
            let left = BudgetLeft {
                budget: row.budget.as_cost(),
                spent: [row.counted.cost, open.cost()?].into_iter().sum(),
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

/// The cost of an account's results after an id. A host that reports no cost adds nothing.
pub(super) const OPEN_COST: &str = "\
SELECT CAST(SUM(cost_nanos) AS BIGINT) AS nanos, CAST(SUM(cost_attos) AS BIGINT) AS attos
FROM results WHERE account_id = $1 AND id > $2";

/// The sum of some costs; null for none.
#[derive(QueryableByName)]
pub(super) struct CostColumns {
    #[diesel(sql_type = Nullable<BigInt>)]
    nanos: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    attos: Option<i64>,
}

impl Database {
    /// Adds up the cost of an account's results after an id.
    pub async fn sum_open_costs(
        &self,
        account: AccountId,
        after: ResultId,
    ) -> Result<Cost, PersistenceError> {
        let database = self.without_lanes();
        let reading = database.read(async move |mut connection| {
            let query = sql_query(OPEN_COST)
                .bind::<Id, _>(Bind(account))
                .bind::<Id, _>(Bind(after));
            let found: CostColumns = on!(connection, CUSTOM_PLAN, get_result(query))?;
            found.cost()
        });
        reading.await
    }
}

impl CostColumns {
    pub(super) fn cost(self) -> Result<Cost, PersistenceError> {
        Ok(saved_cost(self.nanos, self.attos)?.unwrap_or_default())
    }
}
