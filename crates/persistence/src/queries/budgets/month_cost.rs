//! The cost of an account's results between two ids.

use chrono::NaiveDate;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable};
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::cost::Cost;

use crate::connections::{CUSTOM_PLAN, on};
use crate::error::PersistenceError;
use crate::queries::counts::number_of;
use crate::queries::database::Database;
use crate::queries::results::provenance::saved_cost;
use crate::schema::sql_types::{Bind, Id};

/// The cost of an account's results after one id and up to another, then that of its deleted results
/// of some days. A host that reports no cost adds nothing.
const COST: &str = "\
SELECT CAST(SUM(cost_nanos) AS BIGINT) AS nanos, CAST(SUM(cost_attos) AS BIGINT) AS attos
FROM results WHERE account_id = $1 AND id > $2 AND id <= $3
UNION ALL
SELECT CAST(SUM(cost_nanos) AS BIGINT), CAST(SUM(cost_attos) AS BIGINT)
FROM deleted_usage WHERE day >= $4 AND day < $5
    AND prism_id IN (SELECT id FROM prisms WHERE account_id = $6)";

/// The sum of some costs; null for none.
#[derive(QueryableByName)]
pub(super) struct CostColumns {
    #[diesel(sql_type = Nullable<BigInt>)]
    nanos: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    attos: Option<i64>,
}

impl Database {
    /// Adds up the cost of an account's results after an id and up to another one, and, with a first
    /// day, of its deleted results from that day on.
    pub async fn sum_costs(
        &self,
        account: AccountId,
        (after, up_to): (ResultId, ResultId),
        deleted_since: Option<NaiveDate>,
    ) -> Result<Cost, PersistenceError> {
        let (first_day, end) = match deleted_since {
            None => (0, 0),
            Some(day) => (number_of(day), i32::MAX),
        };
        let database = self.without_lanes();
        let reading = database.read(async move |mut connection| {
            let query = sql_query(COST)
                .bind::<Id, _>(Bind(account))
                .bind::<Id, _>(Bind(after))
                .bind::<Id, _>(Bind(up_to))
                .bind::<Integer, _>(first_day)
                .bind::<Integer, _>(end)
                .bind::<Id, _>(Bind(account));
            let found: Vec<CostColumns> = on!(connection, CUSTOM_PLAN, load(query))?;
            CostColumns::sum(found)
        });
        reading.await
    }
}

impl CostColumns {
    /// The sum of all rows.
    pub(super) fn sum(found: Vec<Self>) -> Result<Cost, PersistenceError> {
        let costs = found
            .into_iter()
            .map(|columns| saved_cost(columns.nanos, columns.attos));
        let costs: Vec<Option<Cost>> = costs.collect::<Result<_, _>>()?;
        Ok(costs.into_iter().flatten().sum())
    }
}
