//! What results used that are about to be deleted: added to the sums of deleted results, by prism,
//! day, key, person, file run and model.

use diesel::backend::DieselReserveSpecialization;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::HasSqlType;
use refract_domain::ids::{ApiKeyId, ResultId};

use crate::queries::counts::NO_KEY;
use crate::queries::results::usage::statement::{SUMS, UsageBackend};
use crate::schema::sql_types::Id;

/// The columns that are added up. The cost of deleted results is null until one of them has a cost.
const ADDED: &str = "calls = deleted_usage.calls + excluded.calls, \
    failed = deleted_usage.failed + excluded.failed, \
    model_requests = deleted_usage.model_requests + excluded.model_requests, \
    input_tokens = deleted_usage.input_tokens + excluded.input_tokens, \
    cached_tokens = deleted_usage.cached_tokens + excluded.cached_tokens, \
    output_tokens = deleted_usage.output_tokens + excluded.output_tokens, \
    cost_nanos = COALESCE(deleted_usage.cost_nanos + excluded.cost_nanos, \
        deleted_usage.cost_nanos, excluded.cost_nanos), \
    cost_attos = COALESCE(deleted_usage.cost_attos + excluded.cost_attos, \
        deleted_usage.cost_attos, excluded.cost_attos)";

/// Adds the usage of these results to that of deleted ones; there must be at least one. Rows are
/// written in the order of their keys, so that concurrent deletions do not wait for each other in a
/// circle.
pub(crate) struct KeepUsage {
    results: Vec<ResultId>,
    none: ApiKeyId,
}

impl KeepUsage {
    pub(crate) fn of(results: Vec<ResultId>) -> Self {
        Self {
            results,
            none: NO_KEY,
        }
    }
}

impl<DB> QueryFragment<DB> for KeepUsage
where
    DB: UsageBackend + DieselReserveSpecialization + HasSqlType<Id>,
    ApiKeyId: ToSql<Id, DB>,
    ResultId: ToSql<Id, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        // the number of ids is part of the text
        out.unsafe_to_cache_prepared();
        out.push_sql("INSERT INTO deleted_usage SELECT prism_id, ");
        out.push_sql(DB::DAY);
        for column in ["api_key_id", "made_by", "file_run_id"] {
            out.push_sql(&format!(", COALESCE({column}, "));
            out.push_bind_param::<Id, _>(&self.none)?;
            out.push_sql(")");
        }
        out.push_sql(&format!(
            ", COALESCE(model_name, ''), {SUMS} FROM results WHERE id IN ("
        ));
        for (place, id) in self.results.iter().enumerate() {
            if place > 0 {
                out.push_sql(", ");
            }
            out.push_bind_param::<Id, _>(id)?;
        }
        out.push_sql(
            ") GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY 1, 2, 3, 4, 5, 6 \
             ON CONFLICT (prism_id, day, api_key_id, made_by, file_run_id, model_name) \
             DO UPDATE SET ",
        );
        out.push_sql(ADDED);
        Ok(())
    }
}

impl QueryId for KeepUsage {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<C> RunQueryDsl<C> for KeepUsage {}
