//! PostgreSQL: its address, and how connections to it are opened, pooled and lent.

mod address;
mod hosts;
mod lanes;
mod pool;
mod refused;
mod server;
mod statement_text;
mod tls;

use diesel::pg::Pg;
use diesel::query_builder::{QueryFragment, QueryId};
pub(crate) use diesel_async::AsyncPgConnection;
use diesel_async::methods::LoadQuery;
use diesel_async::pooled_connection::deadpool::Object;

pub(crate) use self::address::PostgresAddress;
pub(crate) use self::lanes::PostgresLanes;
pub(crate) use self::pool::PostgresPool;
pub(crate) use self::server::PostgresConnection;
pub(crate) use self::statement_text::{CUSTOM_PLAN, StatementText};

/// A connection that is leased until it is dropped.
pub(crate) type PostgresLease = Object<AsyncPgConnection>;

/// A query of rows that PostgreSQL can run and that are read as `T`.
pub(crate) trait RowsOnPostgres<T>:
    for<'c> LoadQuery<'static, &'c AsyncPgConnection, T>
{
}

impl<T, Q> RowsOnPostgres<T> for Q where Q: for<'c> LoadQuery<'static, &'c AsyncPgConnection, T> {}

/// A statement without rows that PostgreSQL can run.
pub(crate) trait ChangeOnPostgres: QueryFragment<Pg> + QueryId {}

impl<Q: QueryFragment<Pg> + QueryId> ChangeOnPostgres for Q {}
