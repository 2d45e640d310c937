//! The connection of a query, for either database, and the macro that runs a query on it.

use std::any::Any;
use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use diesel::query_dsl::LoadQuery;
use diesel::query_dsl::methods::ExecuteDsl;
use diesel::{RunQueryDsl, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use tokio::sync::OwnedMutexGuard;

use crate::connections::postgres::{
    AsyncPgConnection, ChangeOnPostgres, PostgresConnection, PostgresLease, RowsOnPostgres,
};

/// What a task returns, of whatever type: code compiled for each type would be a large part of the
/// binary.
pub(crate) type TaskOutcome = Box<dyn Any + Send>;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connection to an SQLite file. Its statements block a thread.
pub(crate) type AsyncSqliteConnection = SyncConnectionWrapper<SqliteConnection, BlockedThread>;

/// Which thread the statements of an SQLite connection block.
pub(crate) enum BlockedThread {
    /// A thread of the runtime's blocking pool.
    OfPool,
    /// The thread of the query's caller.
    OfCaller,
}

impl SpawnBlocking for BlockedThread {
    fn spawn_blocking<'a, R: Send + 'static>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn Error + Send + Sync>>> {
        match self {
            Self::OfPool => {
                // the runtime gets one task type for all statements
                let task: Box<dyn FnOnce() -> TaskOutcome + Send> =
                    Box::new(move || Box::new(task()));
                let ended = tokio::task::spawn_blocking(task);
                Box::pin(async {
                    let done = ended.await?.downcast();
                    done.map(|done| *done)
                        .map_err(|_| "it has another type".into())
                })
            }
            Self::OfCaller => {
                let done = task();
                Box::pin(async { Ok(done) })
            }
        }
    }

    fn get_runtime() -> Self {
        Self::OfPool
    }
}

/// A connection for single statements.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives as long as one query and is not stored"
)]
pub(crate) enum Connection {
    /// A lane to a PostgreSQL server, on which the statements of many queries are pipelined.
    PostgresLane(Arc<PostgresConnection>),
    /// A connection to a PostgreSQL server, leased until it is dropped.
    PostgresLease(PostgresLease),
    /// A lane to an SQLite file: it belongs to the caller's thread and blocks it.
    SqliteLane(OwnedMutexGuard<AsyncSqliteConnection>),
    /// A connection to an SQLite file, leased until it is dropped.
    SqliteLease(Object<AsyncSqliteConnection>),
}

/// An exclusive connection: no other query uses it, so it may hold a transaction.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives as long as one query and is not stored"
)]
pub(crate) enum ExclusiveConnection {
    /// To a PostgreSQL server.
    Postgres(PostgresLease),
    /// To an SQLite file: the only connection that may write.
    Sqlite(Object<AsyncSqliteConnection>),
}

/// A connection as statements use it: PostgreSQL pipelines the statements of many queries, SQLite
/// runs one after the other.
pub(crate) enum ConnectionRef<'a> {
    Postgres(&'a AsyncPgConnection),
    Sqlite(&'a mut AsyncSqliteConnection),
}

impl Connection {
    pub(crate) fn by_database(&mut self) -> ConnectionRef<'_> {
        match self {
            Self::PostgresLane(lane) => ConnectionRef::Postgres(lane.connection()),
            Self::PostgresLease(lease) => ConnectionRef::Postgres(lease),
            Self::SqliteLane(lane) => ConnectionRef::Sqlite(lane),
            Self::SqliteLease(lease) => ConnectionRef::Sqlite(lease),
        }
    }
}

impl ExclusiveConnection {
    pub(crate) fn by_database(&mut self) -> ConnectionRef<'_> {
        match self {
            Self::Postgres(lease) => ConnectionRef::Postgres(lease),
            Self::Sqlite(lease) => ConnectionRef::Sqlite(lease),
        }
    }
}

impl From<ExclusiveConnection> for Connection {
    fn from(exclusive: ExclusiveConnection) -> Self {
        match exclusive {
            ExclusiveConnection::Postgres(lease) => Self::PostgresLease(lease),
            ExclusiveConnection::Sqlite(lease) => Self::SqliteLease(lease),
        }
    }
}

/// A query of rows that either database can run and that are read as `T`.
pub(crate) trait RowsQuery<T>:
    RowsOnPostgres<T>
    + LoadQuery<'static, SqliteConnection, T>
    + RunQueryDsl<SqliteConnection>
    + Send
    + 'static
{
}

impl<T, Q> RowsQuery<T> for Q where
    Q: RowsOnPostgres<T>
        + LoadQuery<'static, SqliteConnection, T>
        + RunQueryDsl<SqliteConnection>
        + Send
        + 'static
{
}

/// A statement without rows that either database can run.
pub(crate) trait Change:
    ChangeOnPostgres + ExecuteDsl<SqliteConnection> + RunQueryDsl<SqliteConnection> + Send + 'static
{
}

impl<Q> Change for Q where
    Q: ChangeOnPostgres
        + ExecuteDsl<SqliteConnection>
        + RunQueryDsl<SqliteConnection>
        + Send
        + 'static
{
}

/// The code of a `match`'s arm for PostgreSQL: `on_postgres!(lease, commit(lease))`. A build without
/// PostgreSQL has no value for the arm, and leaves its code out.
#[cfg(feature = "postgres")]
macro_rules! on_postgres {
    ($value:expr, $code:expr) => {
        $code
    };
}
#[cfg(not(feature = "postgres"))]
macro_rules! on_postgres {
    ($value:expr, $code:expr) => {
        $value.never()
    };
}

/// Runs one query on a connection of either database: `on!(connection, get_result(query))`, with
/// the name of a method of diesel's `RunQueryDsl`. The columns of a view are selected by
/// `on!(connection, get_result(query) as View)`. A query of the hot path has its text rendered
/// once: `on!(connection, TEXT, get_result(query))` with a [`StatementText`].
///
/// diesel's types name the database, so the query is compiled once for each. With `as View` the
/// macro names it to `as_select()`, which would be inferred otherwise: that took half of the time
/// in which this crate is checked. On SQLite the whole query runs on the thread that it blocks:
/// the wrapper's own methods would copy each row and each column's name.
///
/// [`StatementText`]: crate::connections::StatementText
macro_rules! on {
    ($connection:expr, $run:ident($query:expr)) => {
        $crate::connections::on!(@run $connection, $run, $query, $query)
    };
    ($connection:expr, $text:ident, $run:ident($query:expr)) => {{
        // the only use of the text where PostgreSQL's arm is left out
        let _ = &$text;
        $crate::connections::on!(@run $connection, $run, $text.of($query), $query)
    }};
    ($connection:expr, $run:ident($query:expr) as $view:ty) => {
        $crate::connections::on!(
            @run $connection,
            $run,
            $crate::connections::on!(@select $query, $view, diesel::pg::Pg),
            $crate::connections::on!(@select $query, $view, diesel::sqlite::Sqlite)
        )
    };
    ($connection:expr, $text:ident, $run:ident($query:expr) as $view:ty) => {{
        let _ = &$text;
        $crate::connections::on!(
            @run $connection,
            $run,
            $text.of($crate::connections::on!(@select $query, $view, diesel::pg::Pg)),
            $crate::connections::on!(@select $query, $view, diesel::sqlite::Sqlite)
        )
    }};
    (@select $query:expr, $view:ty, $database:ty) => {
        $query.select(<$view as diesel::SelectableHelper<$database>>::as_select())
    };
    (@run $connection:expr, $run:ident, $on_postgres:expr, $on_sqlite:expr) => {
        match $connection.by_database() {
            $crate::connections::ConnectionRef::Postgres(connection) => {
                $crate::connections::on_postgres!(connection, {
                    let connection: &mut &diesel_async::AsyncPgConnection = &mut { connection };
                    diesel_async::RunQueryDsl::$run($on_postgres, connection).await
                })
            }
            $crate::connections::ConnectionRef::Sqlite(connection) => {
                let query = $on_sqlite;
                let run = move |connection: &mut diesel::SqliteConnection| {
                    diesel::RunQueryDsl::$run(query, connection)
                };
                connection.spawn_blocking(run).await
            }
        }
    };
}

/// Loads the rows of a query with the columns of a view: `load_as!(database, query, FileRunRow)`.
/// Converts rows of another type to the caller's.
macro_rules! load_as {
    ($database:expr, $query:expr, $columns:ty) => {
        $database.read(async move |mut connection| {
            let found: Vec<$columns> =
                $crate::connections::on!(connection, load($query) as $columns)?;
            let converted = found.into_iter().map(|row| {
                row.try_into()
                    .map_err($crate::error::PersistenceError::from)
            });
            converted.collect()
        })
    };
}

/// Finds the one row of a query as [`load_as!`] does; `None` if there is no row.
macro_rules! find_as {
    ($database:expr, $query:expr, $columns:ty) => {
        $database.read(async move |mut connection| {
            let found: Option<$columns> =
                $crate::connections::on!(connection, get_result($query) as $columns).optional()?;
            let converted = found.map(|row| {
                row.try_into()
                    .map_err($crate::error::PersistenceError::from)
            });
            converted.transpose()
        })
    };
}

pub(crate) use {find_as, load_as, on, on_postgres};
