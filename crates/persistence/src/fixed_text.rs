//! Queries whose text is put together once.
//!
//! diesel-async writes the text of a query anew each time it is run, which for one with joins costs
//! more than sending it. What is bound is never part of the text.

use std::sync::OnceLock;

use diesel::QueryResult;
use diesel::pg::{Pg, PgQueryBuilder};
use diesel::query_builder::{AstPass, Query, QueryBuilder as _, QueryFragment, QueryId};

/// The text of one query, from the first time that it is run.
pub(crate) struct Text(OnceLock<String>);

impl Text {
    pub(crate) const fn new() -> Self {
        Self(OnceLock::new())
    }

    /// A query that has this text whatever is bound to it.
    pub(crate) fn of<Q>(&'static self, query: Q) -> FixedText<Q> {
        FixedText { query, text: self }
    }
}

/// A query that knows its text.
pub(crate) struct FixedText<Q> {
    query: Q,
    text: &'static Text,
}

impl<Q: QueryFragment<Pg>> FixedText<Q> {
    fn written(&self) -> QueryResult<String> {
        let mut text = PgQueryBuilder::new();
        self.query.to_sql(&mut text, &Pg)?;
        Ok(text.finish())
    }
}

impl<Q: QueryFragment<Pg>> QueryFragment<Pg> for FixedText<Q> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        self.query.walk_ast(pass)
    }

    fn to_sql(&self, out: &mut PgQueryBuilder, _: &Pg) -> QueryResult<()> {
        let Text(known) = self.text;
        let text = if let Some(text) = known.get() {
            text
        } else {
            let text = self.written()?;
            known.get_or_init(|| text)
        };
        debug_assert_eq!(self.written().as_ref(), Ok(text), "the text is fixed");
        out.push_sql(text);
        Ok(())
    }
}

impl<Q: QueryId> QueryId for FixedText<Q> {
    type QueryId = Q::QueryId;
    const HAS_STATIC_QUERY_ID: bool = Q::HAS_STATIC_QUERY_ID;
}

impl<Q: Query> Query for FixedText<Q> {
    type SqlType = Q::SqlType;
}
