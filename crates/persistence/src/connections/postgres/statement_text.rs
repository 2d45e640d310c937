//! Statements whose text is rendered once per process, and statements that are planned for the
//! values of each run.
//!
//! diesel-async renders the text of a query again for each run, which costs more than sending it if
//! the query has joins. Bound values are never part of the text.
//!
//! A prepared statement that runs often gets one plan for all values. A search needs another plan
//! for a key that made ten results than for a key that made a million: with the plan for the common
//! key, the search for the rare key scans everything.

use std::sync::OnceLock;

use diesel::QueryResult;
use diesel::pg::{Pg, PgQueryBuilder};
use diesel::query_builder::{AstPass, Query, QueryBuilder as _, QueryFragment, QueryId};

/// The text of one PostgreSQL statement, kept from its first run on.
pub(crate) struct StatementText(OnceLock<String>);

impl StatementText {
    /// An empty text, which the first run fills in.
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// A query that has this text, whatever values it binds.
    pub(crate) fn of<Q>(&'static self, query: Q) -> QueryWithText<Q> {
        QueryWithText { query, text: self }
    }
}

/// A query together with its text.
pub(crate) struct QueryWithText<Q> {
    query: Q,
    text: &'static StatementText,
}

impl<Q: QueryFragment<Pg>> QueryWithText<Q> {
    fn written(&self) -> QueryResult<String> {
        let mut text = PgQueryBuilder::new();
        self.query.to_sql(&mut text, &Pg)?;
        Ok(text.finish())
    }
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for QueryWithText<Q> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.query.walk_ast(pass)
    }

    fn to_sql(&self, out: &mut PgQueryBuilder, _: &Pg) -> QueryResult<()> {
        let StatementText(known) = self.text;
        let text = if let Some(text) = known.get() {
            text
        } else {
            let text = self.written()?;
            known.get_or_init(|| text)
        };
        debug_assert_eq!(self.written().as_ref(), Ok(text), "one query has this text");
        out.push_sql(text);
        Ok(())
    }
}

impl<Q: QueryId> QueryId for QueryWithText<Q> {
    type QueryId = Q::QueryId;
    const HAS_STATIC_QUERY_ID: bool = Q::HAS_STATIC_QUERY_ID;
}

impl<Q: Query> Query for QueryWithText<Q> {
    type SqlType = Q::SqlType;
}

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
