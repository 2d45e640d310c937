//! Sums of usage: of results, and of rows that have such sums, which grow by what results used.

use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::HasSqlType;
use diesel::sqlite::Sqlite;
use refract_domain::ids::{PrismId, ResultId};

use crate::schema::sql_types::Id;

/// Sums of a group of results. A database adds up whole numbers exactly; PostgreSQL's sums are
/// of another type than their numbers.
pub(super) const SUMS: &str = "COUNT(*), COUNT(error), \
    CAST(COALESCE(SUM(model_requests), 0) AS BIGINT), \
    CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(cached_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT), \
    CAST(SUM(cost_nanos) AS BIGINT), \
    CAST(SUM(cost_attos) AS BIGINT)";

/// Sums of a group of stored sums.
pub(super) const SUMS_OF_STORED: &str = "CAST(SUM(calls) AS BIGINT), \
    CAST(SUM(failed) AS BIGINT), \
    CAST(SUM(model_requests) AS BIGINT), \
    CAST(SUM(input_tokens) AS BIGINT), \
    CAST(SUM(cached_tokens) AS BIGINT), \
    CAST(SUM(output_tokens) AS BIGINT), \
    CAST(SUM(cost_nanos) AS BIGINT), \
    CAST(SUM(cost_attos) AS BIGINT)";

/// A database that usage is added up in.
pub(super) trait UsageBackend: Backend {
    /// The days from 1970 to the moment of saving, in UTC.
    const DAY: &'static str;
    /// The id of results that no key, no person or no file run made: a column of a primary key cannot
    /// be null.
    const NIL: &'static str;
}

#[cfg(feature = "postgres")]
impl UsageBackend for diesel::pg::Pg {
    const DAY: &'static str = "CAST(created_at AT TIME ZONE 'UTC' AS date) - DATE '1970-01-01'";
    const NIL: &'static str = "'00000000-0000-0000-0000-000000000000'";
}

impl UsageBackend for Sqlite {
    const DAY: &'static str = "created_at / 86400000";
    const NIL: &'static str = "x'00000000000000000000000000000000'";
}

/// A table of sums.
#[derive(Clone, Copy)]
pub(crate) enum UsageTable {
    /// What counted results used, those that were deleted since among them.
    Days,
    /// What deleted results used.
    Deleted,
}

impl UsageTable {
    /// The name of the table.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Days => "usage_days",
            Self::Deleted => "deleted_usage",
        }
    }
}

/// The results that are added up.
pub(crate) enum AddedResults {
    /// These; at least one.
    Named(Vec<ResultId>),
    /// Those of a prism after an id and up to another.
    Between(PrismId, ResultId, ResultId),
}

/// Adds what results used to a table of sums. Rows are written in the order of their keys, so that
/// concurrent transactions do not wait for each other in a circle.
pub(crate) struct AddUsage {
    table: UsageTable,
    results: AddedResults,
}

impl AddUsage {
    pub(crate) fn to(table: UsageTable, results: AddedResults) -> Self {
        Self { table, results }
    }
}

/// The columns that are added up. A cost is null until one of the results has a cost.
fn added_columns(table: &str) -> String {
    let counts = [
        "calls",
        "failed",
        "model_requests",
        "input_tokens",
        "cached_tokens",
        "output_tokens",
    ];
    let counts = counts.map(|column| format!("{column} = {table}.{column} + excluded.{column}"));
    let costs = ["cost_nanos", "cost_attos"].map(|column| {
        format!(
            "{column} = COALESCE({table}.{column} + excluded.{column}, {table}.{column}, \
             excluded.{column})"
        )
    });
    [&counts[..], &costs].concat().join(", ")
}

impl<DB> QueryFragment<DB> for AddUsage
where
    DB: UsageBackend + DieselReserveSpecialization + HasSqlType<Id>,
    PrismId: ToSql<Id, DB>,
    ResultId: ToSql<Id, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        // planned for its values, of which the number may differ
        out.unsafe_to_cache_prepared();
        let table = self.table.name();
        out.push_sql(&format!("INSERT INTO {table} SELECT prism_id, {}", DB::DAY));
        for column in ["api_key_id", "made_by", "file_run_id"] {
            out.push_sql(&format!(", COALESCE({column}, {})", DB::NIL));
        }
        out.push_sql(&format!(
            ", COALESCE(model_name, ''), {SUMS} FROM results WHERE "
        ));
        match &self.results {
            AddedResults::Named(ids) => {
                let mut separator = "id IN (";
                for id in ids {
                    out.push_sql(separator);
                    out.push_bind_param::<Id, _>(id)?;
                    separator = ", ";
                }
                out.push_sql(")");
            }
            AddedResults::Between(prism, after, up_to) => {
                out.push_sql("prism_id = ");
                out.push_bind_param::<Id, _>(prism)?;
                out.push_sql(" AND id > ");
                out.push_bind_param::<Id, _>(after)?;
                out.push_sql(" AND id <= ");
                out.push_bind_param::<Id, _>(up_to)?;
            }
        }
        out.push_sql(
            " GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6 \
             ON CONFLICT (prism_id, day, api_key_id, made_by, file_run_id, model_name) \
             DO UPDATE SET ",
        );
        out.push_sql(&added_columns(table));
        Ok(())
    }
}

impl QueryId for AddUsage {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<C> RunQueryDsl<C> for AddUsage {}
