//! PostgreSQL: its address, and how connections to it are opened, pooled and lent.

mod address;
mod hosts;
mod lane_connection;
mod lanes;
mod pool;
mod refused;
mod server;
mod statement_text;
mod tls;

use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AsQuery, QueryFragment};
pub(crate) use diesel_async::AsyncPgConnection;
use diesel_async::RunQueryDsl;
use diesel_async::methods::LoadQuery;
use diesel_async::pooled_connection::deadpool::Object;

pub(crate) use self::address::PostgresAddress;
pub(crate) use self::lanes::PostgresLanes;
pub(crate) use self::pool::PostgresPool;
pub(crate) use self::server::PostgresConnection;
pub(crate) use self::statement_text::{CUSTOM_PLAN, StatementText};
use crate::connections::erased::{AnyQuery, BoxFuture};

/// A connection that is leased until it is dropped.
pub(crate) type PostgresLease = Object<AsyncPgConnection>;

/// A query of rows that PostgreSQL can run and that are read as `T`.
pub(crate) trait RowsOnPostgres<T>: Sized {
    /// All rows.
    fn load(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<Vec<T>>>;

    /// The first row.
    fn get_result(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<T>>;
}

impl<T, S, Q> RowsOnPostgres<T> for Q
where
    T: Send + 'static,
    S: 'static,
    Q: AsQuery<SqlType = S, Query: QueryFragment<Pg> + Send + 'static>,
    AnyQuery<Pg, S>: for<'c> LoadQuery<'static, &'c AsyncPgConnection, T>,
{
    fn load(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<Vec<T>>> {
        load(AnyQuery::of_rows(self), connection)
    }

    fn get_result(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<T>> {
        find(AnyQuery::of_rows(self), connection)
    }
}

fn load<T: Send + 'static, S: 'static>(
    query: AnyQuery<Pg, S>,
    mut connection: &AsyncPgConnection,
) -> BoxFuture<'_, QueryResult<Vec<T>>>
where
    AnyQuery<Pg, S>: for<'c> LoadQuery<'static, &'c AsyncPgConnection, T>,
{
    Box::pin(async move { RunQueryDsl::load(query, &mut connection).await })
}

fn find<T: Send + 'static, S: 'static>(
    query: AnyQuery<Pg, S>,
    mut connection: &AsyncPgConnection,
) -> BoxFuture<'_, QueryResult<T>>
where
    AnyQuery<Pg, S>: for<'c> LoadQuery<'static, &'c AsyncPgConnection, T>,
{
    Box::pin(async move { RunQueryDsl::get_result(query, &mut connection).await })
}

/// A statement without rows that PostgreSQL can run.
pub(crate) trait ChangeOnPostgres {
    /// Runs it; returns how many rows it changed.
    fn execute(self, connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<usize>>;
}

impl<Q: QueryFragment<Pg> + Send + 'static> ChangeOnPostgres for Q {
    fn execute(self, mut connection: &AsyncPgConnection) -> BoxFuture<'_, QueryResult<usize>> {
        let change = AnyQuery::<Pg, ()>::change(self);
        RunQueryDsl::execute(change, &mut connection)
    }
}
