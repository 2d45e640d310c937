//! A borrowed connection of either kind, and the macros that compile a query once for each.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;

use diesel::connection::AnsiTransactionManager;
use diesel::{QueryResult, SqliteConnection};
use diesel_async::pooled_connection::deadpool::Object;
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};
use diesel_async::{AsyncConnection, AsyncPgConnection, TransactionManager as _};

use crate::postgres::Open;
use crate::sqlite::SqliteOfThread;

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A connection to an SQLite file, whose statements block a thread.
pub(crate) type AsyncSqliteConnection = SyncConnectionWrapper<SqliteConnection, Blocked>;

/// Which thread the statements of an SQLite connection block.
pub(crate) enum Blocked {
    /// One that is there for it.
    Another,
    /// The caller's.
    This,
}

impl SpawnBlocking for Blocked {
    fn spawn_blocking<'a, R: Send + 'static>(
        &mut self,
        task: impl FnOnce() -> R + Send + 'static,
    ) -> BoxFuture<'a, Result<R, Box<dyn Error + Send + Sync>>> {
        match self {
            Self::Another => {
                let ended = tokio::task::spawn_blocking(task);
                Box::pin(async { Ok(ended.await?) })
            }
            Self::This => {
                let done = task();
                Box::pin(async { Ok(done) })
            }
        }
    }

    fn get_runtime() -> Self {
        Self::Another
    }
}

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
    /// To an SQLite file; it belongs to this thread and blocks it.
    SqliteOfThread(SqliteOfThread),
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
            Self::SqliteOfThread(connection) => Backend::Sqlite(connection),
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

/// Runs a query on either kind of connection: `on!(connection, get_result(query))`, with the name of
/// a method of diesel's `RunQueryDsl`.
///
/// diesel's types name the backend, so one function cannot serve two; `as_select()` must stand
/// inside for the same reason. SQLite's query is carried out in one piece, on the thread that it
/// blocks: through the wrapper's own methods each row and each name of a column would be copied.
macro_rules! on {
    ($connection:expr, $run:ident($query:expr)) => {
        on!($connection, $run, $query, $query)
    };
    ($connection:expr, $run:ident, $of_postgres:expr, $of_sqlite:expr) => {
        match $connection.backend() {
            $crate::connection::Backend::Postgres(mut connection) => {
                let connection: &mut &diesel_async::AsyncPgConnection = &mut connection;
                diesel_async::RunQueryDsl::$run($of_postgres, connection).await
            }
            $crate::connection::Backend::Sqlite(connection) => {
                let query = $of_sqlite;
                let run = move |connection: &mut diesel::SqliteConnection| {
                    diesel::RunQueryDsl::$run(query, connection)
                };
                connection.spawn_blocking(run).await
            }
        }
    };
}

/// The same for a query of API calls, whose text is the same each time: for PostgreSQL it is put
/// together once.
macro_rules! on_hot {
    ($connection:expr, $run:ident($query:expr)) => {{
        static TEXT: $crate::fixed_text::Text = $crate::fixed_text::Text::new();
        on!($connection, $run, TEXT.of($query), $query)
    }};
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
