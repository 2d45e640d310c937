//! PostgreSQL: its address, and how connections to it are opened, pooled and lent.

mod address;
mod connection;
mod lanes;
mod pool;
mod refused;
mod server;
mod statement_text;
mod tls;

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AsQuery, QueryFragment};
use diesel_async::methods::LoadQuery;
use diesel_async::{AsyncPgConnection, RunQueryDsl};

pub(crate) use self::address::PostgresAddress;
pub(crate) use self::connection::PostgresConnection;
pub(crate) use self::lanes::PostgresLanes;
pub(crate) use self::pool::{PostgresLease, PostgresPool};
pub(crate) use self::statement_text::{CUSTOM_PLAN, StatementText};
use crate::connections::erased::{AnyQuery, BoxFuture};

/// A query of rows that PostgreSQL can run and that are read as `T`.
pub(crate) trait RowsOnPostgres<T>: Sized {
    /// All rows.
    fn load(self, connection: &PostgresConnection) -> BoxFuture<'_, QueryResult<Vec<T>>>;

    /// The first row.
    fn get_result(self, connection: &PostgresConnection) -> BoxFuture<'_, QueryResult<T>>;
}

impl<T, S, Q> RowsOnPostgres<T> for Q
where
    T: Send + 'static,
    S: 'static,
    Q: AsQuery<SqlType = S, Query: QueryFragment<Pg> + Send + 'static>,
    AnyQuery<Pg, S>: for<'c> LoadQuery<'static, &'c AsyncPgConnection, T>,
{
    fn load(self, connection: &PostgresConnection) -> BoxFuture<'_, QueryResult<Vec<T>>> {
        load(AnyQuery::of_rows(self), connection)
    }

    fn get_result(self, connection: &PostgresConnection) -> BoxFuture<'_, QueryResult<T>> {
        find(AnyQuery::of_rows(self), connection)
    }
}

fn load<T: Send + 'static, S: 'static>(
    query: AnyQuery<Pg, S>,
    connection: &PostgresConnection,
) -> BoxFuture<'_, QueryResult<Vec<T>>>
where
    AnyQuery<Pg, S>: for<'c> LoadQuery<'static, &'c AsyncPgConnection, T>,
{
    Box::pin(async move {
        let mut statements = &connection.statements;
        let loading = RunQueryDsl::load(query, &mut statements);
        connection.driver.answered(loading).await
    })
}

fn find<T: Send + 'static, S: 'static>(
    query: AnyQuery<Pg, S>,
    connection: &PostgresConnection,
) -> BoxFuture<'_, QueryResult<T>>
where
    AnyQuery<Pg, S>: for<'c> LoadQuery<'static, &'c AsyncPgConnection, T>,
{
    Box::pin(async move {
        let mut statements = &connection.statements;
        let finding = RunQueryDsl::get_result(query, &mut statements);
        connection.driver.answered(finding).await
    })
}

/// A statement without rows that PostgreSQL can run.
pub(crate) trait ChangeOnPostgres {
    /// Runs it; returns how many rows it changed.
    fn execute(self, connection: &PostgresConnection) -> BoxFuture<'_, QueryResult<usize>>;
}

impl<Q: QueryFragment<Pg> + Send + 'static> ChangeOnPostgres for Q {
    fn execute(self, connection: &PostgresConnection) -> BoxFuture<'_, QueryResult<usize>> {
        execute(AnyQuery::change(self), connection)
    }
}

fn execute(
    change: AnyQuery<Pg, ()>,
    connection: &PostgresConnection,
) -> BoxFuture<'_, QueryResult<usize>> {
    Box::pin(async move {
        let mut statements = &connection.statements;
        let executing = RunQueryDsl::execute(change, &mut statements);
        connection.driver.answered(executing).await
    })
}
