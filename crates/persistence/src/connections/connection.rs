//! The connection of a query, for either database, and the macro that runs a query on it.

use std::sync::Arc;

use diesel_async::pooled_connection::deadpool::Object;
use tokio::sync::OwnedMutexGuard;

use crate::connections::postgres::{
    ChangeOnPostgres, PostgresConnection, PostgresLease, RowsOnPostgres,
};
use crate::connections::sqlite::{AsyncSqliteConnection, ChangeOnSqlite, RowsOnSqlite};

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

/// A query of rows that either database can run and that are read as `T`.
pub(crate) trait RowsQuery<T>: RowsOnPostgres<T> + RowsOnSqlite<T> + Send + 'static {}

impl<T, Q: RowsOnPostgres<T> + RowsOnSqlite<T> + Send + 'static> RowsQuery<T> for Q {}

/// A statement without rows that either database can run.
pub(crate) trait Change: ChangeOnPostgres + ChangeOnSqlite + Send + 'static {}

impl<Q: ChangeOnPostgres + ChangeOnSqlite + Send + 'static> Change for Q {}

/// A connection as statements use it: PostgreSQL pipelines the statements of many queries, SQLite
/// runs one after the other.
pub(crate) enum ConnectionRef<'a> {
    Postgres(&'a PostgresConnection),
    Sqlite(&'a mut AsyncSqliteConnection),
}

impl Connection {
    pub(crate) fn by_database(&mut self) -> ConnectionRef<'_> {
        match self {
            Self::PostgresLane(lane) => ConnectionRef::Postgres(lane),
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

/// Runs one query on a connection of either database: `on!(connection, get_result(query))`, or
/// `load`, `first` or `execute`, as diesel's `RunQueryDsl` names them. The columns of a view are
/// selected by `on!(connection, get_result(query) as View)`. A query of the hot path keeps its type
/// and has its text rendered once: `on!(connection, TEXT, get_result(query))` with a
/// [`StatementText`].
///
/// diesel's types name the database, so the query is compiled once for each. With `as View` the
/// macro names it to `as_select()`, which would be inferred otherwise: that took half of the time
/// in which this crate is checked. On SQLite the whole query runs on the thread that it blocks:
/// the wrapper's own methods would copy each row and each column's name.
///
/// [`StatementText`]: crate::connections::StatementText
macro_rules! on {
    ($connection:expr, execute($change:expr)) => {
        match $connection.by_database() {
            $crate::connections::ConnectionRef::Postgres(connection) => {
                $crate::connections::on_postgres!(
                    connection,
                    $crate::connections::ChangeOnPostgres::execute($change, connection).await
                )
            }
            $crate::connections::ConnectionRef::Sqlite(connection) => {
                $crate::connections::ChangeOnSqlite::execute($change, connection).await
            }
        }
    };
    ($connection:expr, first($query:expr) $(as $view:ty)?) => {
        $crate::connections::on!($connection, get_result($query.limit(1)) $(as $view)?)
    };
    ($connection:expr, $run:ident($query:expr)) => {
        $crate::connections::on!(@rows $connection, $run, $query, $query)
    };
    ($connection:expr, $run:ident($query:expr) as $view:ty) => {
        $crate::connections::on!(
            @rows $connection,
            $run,
            $crate::connections::on!(@select $query, $view, diesel::pg::Pg),
            $crate::connections::on!(@select $query, $view, diesel::sqlite::Sqlite)
        )
    };
    ($connection:expr, $text:ident, $run:ident($query:expr)) => {
        $crate::connections::on!(@typed $connection, $run, $text, $query, $query)
    };
    ($connection:expr, $text:ident, $run:ident($query:expr) as $view:ty) => {
        $crate::connections::on!(
            @typed $connection,
            $run,
            $text,
            $crate::connections::on!(@select $query, $view, diesel::pg::Pg),
            $crate::connections::on!(@select $query, $view, diesel::sqlite::Sqlite)
        )
    };
    (@select $query:expr, $view:ty, $database:ty) => {
        $query.select(<$view as diesel::SelectableHelper<$database>>::as_select())
    };
    (@rows $connection:expr, $run:ident, $on_postgres:expr, $on_sqlite:expr) => {
        match $connection.by_database() {
            $crate::connections::ConnectionRef::Postgres(connection) => {
                $crate::connections::on_postgres!(
                    connection,
                    $crate::connections::RowsOnPostgres::$run($on_postgres, connection).await
                )
            }
            $crate::connections::ConnectionRef::Sqlite(connection) => {
                $crate::connections::RowsOnSqlite::$run($on_sqlite, connection).await
            }
        }
    };
    (@typed $connection:expr, $run:ident, $text:ident, $on_postgres:expr, $on_sqlite:expr) => {{
        // the only use of the text where PostgreSQL's arm is left out
        let _ = &$text;
        match $connection.by_database() {
            $crate::connections::ConnectionRef::Postgres(connection) => {
                $crate::connections::on_postgres!(connection, {
                    let mut statements = &connection.statements;
                    let query = $text.of($on_postgres);
                    let running = diesel_async::RunQueryDsl::$run(query, &mut statements);
                    connection.driver.answered(running).await
                })
            }
            $crate::connections::ConnectionRef::Sqlite(connection) => {
                let query = $on_sqlite;
                let run = move |connection: &mut diesel::SqliteConnection| {
                    diesel::RunQueryDsl::$run(query, connection)
                };
                $crate::connections::on_sqlite(connection, run).await
            }
        }
    }};
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
