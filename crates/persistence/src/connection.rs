//! A borrowed connection of either kind, and the macros that compile a query once for each.

use std::sync::Arc;

use diesel::connection::AnsiTransactionManager;
use diesel::{QueryResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::sync_connection_wrapper::SyncConnectionWrapper;
use diesel_async::{AsyncConnection, AsyncPgConnection, TransactionManager as _};

use crate::postgres::Open;

/// SQLite works in blocking threads.
pub(crate) type AsyncSqliteConnection = SyncConnectionWrapper<SqliteConnection>;

/// A connection for statements that need no transaction.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives as long as one query and is not stored"
)]
pub(crate) enum Connection {
    /// To a PostgreSQL server; others use it at the same time.
    Pipelined(Arc<Open>),
    /// To a PostgreSQL server, until it is dropped.
    Postgres(Object<AsyncPgConnection>),
    /// To an SQLite file, until it is dropped.
    Sqlite(Object<AsyncSqliteConnection>),
}

/// A connection for transactions: nobody else uses it until it is dropped.
#[expect(
    clippy::large_enum_variant,
    reason = "it lives as long as one query and is not stored"
)]
pub(crate) enum Exclusive {
    /// To a PostgreSQL server.
    Postgres(Object<AsyncPgConnection>),
    /// To an SQLite file.
    Sqlite(Object<AsyncSqliteConnection>),
}

/// What one statement needs of a connection. PostgreSQL's takes statements of many at once.
pub(crate) enum Backend<'a> {
    Postgres(&'a AsyncPgConnection),
    Sqlite(&'a mut AsyncSqliteConnection),
}

impl Connection {
    pub(crate) fn backend(&mut self) -> Backend<'_> {
        match self {
            Self::Pipelined(open) => Backend::Postgres(&open.connection),
            Self::Postgres(object) => Backend::Postgres(object),
            Self::Sqlite(object) => Backend::Sqlite(object),
        }
    }
}

impl Exclusive {
    pub(crate) fn backend(&mut self) -> Backend<'_> {
        match self {
            Self::Postgres(object) => Backend::Postgres(object),
            Self::Sqlite(object) => Backend::Sqlite(object),
        }
    }
}

impl From<Exclusive> for Connection {
    fn from(exclusive: Exclusive) -> Self {
        match exclusive {
            Exclusive::Postgres(object) => Self::Postgres(object),
            Exclusive::Sqlite(object) => Self::Sqlite(object),
        }
    }
}

/// Compiles a query for each kind of connection: `on!(connection, |c| query.execute(c).await)`.
///
/// diesel's types name the backend, so one function cannot serve two; `as_select()` must stand
/// inside for the same reason.
macro_rules! on {
    ($connection:expr, |$c:ident| $query:expr) => {
        match $connection.backend() {
            $crate::connection::Backend::Postgres(mut connection) => {
                let $c: &mut &diesel_async::AsyncPgConnection = &mut connection;
                $query
            }
            $crate::connection::Backend::Sqlite($c) => $query,
        }
    };
}

/// The same for a transaction that writes: `in_transaction!(connection, |c| { … })`, whose block
/// is async and ends in a `QueryResult`. An error in it rolls back.
macro_rules! in_transaction {
    ($connection:expr, |$c:ident| $block:block) => {
        match &mut $connection {
            $crate::connection::Exclusive::Postgres(object) => {
                let $c: &mut diesel_async::AsyncPgConnection = object;
                match $crate::connection::begin_postgres($c).await {
                    Ok(()) => {
                        let ended = async { $block }.await;
                        $crate::connection::end($c, ended).await
                    }
                    Err(error) => Err(error),
                }
            }
            $crate::connection::Exclusive::Sqlite(object) => {
                let $c: &mut $crate::connection::AsyncSqliteConnection = object;
                match $crate::connection::begin_sqlite($c).await {
                    Ok(()) => {
                        let ended = async { $block }.await;
                        $crate::connection::end($c, ended).await
                    }
                    Err(error) => Err(error),
                }
            }
        }
    };
}

// diesel's own `transaction` takes an async closure, and rustc 1.95 breaks off over those whenever
// it compiles a changed crate anew ("encountered incremental compilation error")

pub(crate) async fn begin_postgres(connection: &mut AsyncPgConnection) -> QueryResult<()> {
    diesel_async::AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN").await
}

/// Takes the write lock at once: a read that turns into a write may find the lock taken by one who
/// waits for the reader.
pub(crate) async fn begin_sqlite(connection: &mut AsyncSqliteConnection) -> QueryResult<()> {
    let begin = |connection: &mut SqliteConnection| {
        AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")
    };
    connection.spawn_blocking(begin).await
}

/// Commits, or after an error rolls back and returns the error.
pub(crate) async fn end<C: AsyncConnection, T>(
    connection: &mut C,
    ended: QueryResult<T>,
) -> QueryResult<T> {
    match ended {
        Ok(value) => {
            C::TransactionManager::commit_transaction(connection).await?;
            Ok(value)
        }
        Err(error) => {
            // where this fails the connection is broken: the pool drops it, and the database undoes
            let _ = C::TransactionManager::rollback_transaction(connection).await;
            Err(error)
        }
    }
}
