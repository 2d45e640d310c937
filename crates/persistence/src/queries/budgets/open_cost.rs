//! The cost of an account's newest results.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable};
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::cost::Cost;

use crate::connections::{CUSTOM_PLAN, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::provenance::saved_cost;
use crate::schema::sql_types::{Bind, Id};

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
