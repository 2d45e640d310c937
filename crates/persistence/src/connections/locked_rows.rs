//! Row locks: queries whose rows cannot change until the transaction ends.

use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sqlite::Sqlite;
use diesel::{QueryResult, RunQueryDsl};

/// A query in a transaction that writes. On PostgreSQL it locks the rows that it finds; on SQLite
/// such a transaction already holds the only lock.
pub(crate) struct LockedRows<Q> {
    query: Q,
    #[cfg_attr(
        not(feature = "postgres"),
        expect(dead_code, reason = "only PostgreSQL reads it")
    )]
    on_postgres: &'static str,
}

/// Locks the rows of a query until the transaction ends, even against new references to them.
pub(crate) fn for_update<Q>(query: Q) -> LockedRows<Q> {
    LockedRows {
        query,
        on_postgres: " FOR UPDATE",
    }
}

/// Locks the rows of a query until the transaction ends. Rows that refer to them can be inserted
/// meanwhile.
pub(crate) fn for_no_key_update<Q>(query: Q) -> LockedRows<Q> {
    LockedRows {
        query,
        on_postgres: " FOR NO KEY UPDATE",
    }
}

#[cfg(feature = "postgres")]
impl<Q: QueryFragment<diesel::pg::Pg>> QueryFragment<diesel::pg::Pg> for LockedRows<Q> {
    fn walk_ast<'b>(&'b self, mut pass: AstPass<'_, 'b, diesel::pg::Pg>) -> QueryResult<()> {
        self.query.walk_ast(pass.reborrow())?;
        pass.push_sql(self.on_postgres);
        Ok(())
    }
}

impl<Q: QueryFragment<Sqlite>> QueryFragment<Sqlite> for LockedRows<Q> {
    fn walk_ast<'b>(&'b self, pass: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        self.query.walk_ast(pass)
    }
}

impl<Q: QueryId> QueryId for LockedRows<Q> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<Q: Query> Query for LockedRows<Q> {
    type SqlType = Q::SqlType;
}

impl<Q, C> RunQueryDsl<C> for LockedRows<Q> {}
