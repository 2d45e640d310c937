//! Statements that PostgreSQL plans for the values of each run.
//!
//! A prepared statement that runs often gets one plan for all values. A search needs another plan
//! for a key that made ten results than for a key that made a million: with the plan for the common
//! key, the search for the rare key scans everything.

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};

/// Has PostgreSQL plan a query for its values: `on!(connection, CUSTOM_PLAN, load(query))`. It
/// costs a second round trip, to prepare the statement.
pub(crate) const CUSTOM_PLAN: CustomPlan = CustomPlan;

/// See [`CUSTOM_PLAN`].
pub(crate) struct CustomPlan;

/// A query that is prepared for one run.
pub(crate) struct UnkeptQuery<Q>(Q);

impl CustomPlan {
    /// The query, prepared for one run.
    #[expect(
        clippy::unused_self,
        reason = "`on!` calls it on a value, as it does with a statement's text"
    )]
    pub(crate) fn of<Q>(self, query: Q) -> UnkeptQuery<Q> {
        UnkeptQuery(query)
    }
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for UnkeptQuery<Q> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        pass.unsafe_to_cache_prepared();
        self.0.walk_ast(pass)
    }
}

impl<Q: QueryId> QueryId for UnkeptQuery<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for UnkeptQuery<Q> {
    type SqlType = Q::SqlType;
}
