//! A borrowed connection of either kind, and the macros that compile a query once for each.

use diesel::SqliteConnection;
use diesel_async::AsyncPgConnection;
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;

/// SQLite works in blocking threads.
pub(crate) type AsyncSqliteConnection = SyncConnectionWrapper<SqliteConnection>;

/// A connection that goes back to its pool when it is dropped.
pub(crate) enum Connection {
    /// To a PostgreSQL server.
    Postgres(Object<AsyncPgConnection>),
    /// To an SQLite file.
    Sqlite(Object<AsyncSqliteConnection>),
}

/// Compiles a query for each kind of connection: `on!(connection, |c| query.execute(c).await)`.
///
/// diesel's types name the backend, so one function cannot serve two; `as_select()` must stand
/// inside for the same reason.
macro_rules! on {
    ($connection:expr, |$c:ident| $query:expr) => {
        match &mut $connection {
            $crate::connection::Connection::Postgres(object) => {
                let $c: &mut diesel_async::AsyncPgConnection = object;
                $query
            }
            $crate::connection::Connection::Sqlite(object) => {
                let $c: &mut $crate::connection::AsyncSqliteConnection = object;
                $query
            }
        }
    };
}

/// The same for a transaction that writes: `in_transaction!(connection, |c| { … })`, whose block
/// is async and ends in a `diesel::QueryResult`. An error in it rolls back.
///
/// SQLite takes its write lock at once: a read that turns into a write may find the lock taken by
/// one who waits for the reader.
macro_rules! in_transaction {
    ($connection:expr, |$c:ident| $block:block) => {
        match &mut $connection {
            $crate::connection::Connection::Postgres(object) => {
                let connection: &mut diesel_async::AsyncPgConnection = object;
                diesel_async::AsyncConnection::transaction(connection, async |$c| $block).await
            }
            $crate::connection::Connection::Sqlite(object) => {
                let connection: &mut $crate::connection::AsyncSqliteConnection = object;
                connection.immediate_transaction(async |$c| $block).await
            }
        }
    };
}
