//! A connection to an SQLite file, and how statements run on it.

use std::error::Error;

use diesel::query_builder::{AsQuery, QueryFragment};
use diesel::query_dsl::LoadQuery;
use diesel::result::Error::QueryBuilderError;
use diesel::sqlite::Sqlite;
use diesel::{QueryResult, RunQueryDsl, SqliteConnection};
use diesel_async::sync_connection_wrapper::{SpawnBlocking, SyncConnectionWrapper};

use crate::connections::erased::{AnyQuery, BoxFuture, TaskOutcome};

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
                let ended = tokio::task::spawn_blocking(task);
                Box::pin(async { Ok(ended.await?) })
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

/// A query of rows that SQLite can run and that are read as `T`.
pub(crate) trait RowsOnSqlite<T>: Sized {
    /// All rows.
    fn load(self, connection: &mut AsyncSqliteConnection) -> BoxFuture<'_, QueryResult<Vec<T>>>;

    /// The first row.
    fn get_result(self, connection: &mut AsyncSqliteConnection) -> BoxFuture<'_, QueryResult<T>>;
}

impl<T, S, Q> RowsOnSqlite<T> for Q
where
    T: Send + 'static,
    S: 'static,
    Q: AsQuery<SqlType = S, Query: QueryFragment<Sqlite> + Send + 'static>,
    AnyQuery<Sqlite, S>: LoadQuery<'static, SqliteConnection, T>,
{
    fn load(self, connection: &mut AsyncSqliteConnection) -> BoxFuture<'_, QueryResult<Vec<T>>> {
        AnyQuery::of_rows(self).load_on_sqlite(connection)
    }

    fn get_result(self, connection: &mut AsyncSqliteConnection) -> BoxFuture<'_, QueryResult<T>> {
        AnyQuery::of_rows(self).find_on_sqlite(connection)
    }
}

/// A statement without rows that SQLite can run.
pub(crate) trait ChangeOnSqlite {
    /// Runs it; returns how many rows it changed.
    fn execute(self, connection: &mut AsyncSqliteConnection) -> BoxFuture<'_, QueryResult<usize>>;
}

impl<Q: QueryFragment<Sqlite> + Send + 'static> ChangeOnSqlite for Q {
    fn execute(self, connection: &mut AsyncSqliteConnection) -> BoxFuture<'_, QueryResult<usize>> {
        AnyQuery::change(self).execute_on_sqlite(connection)
    }
}

impl<S: 'static> AnyQuery<Sqlite, S> {
    fn load_on_sqlite<T: Send + 'static>(
        self,
        connection: &mut AsyncSqliteConnection,
    ) -> BoxFuture<'_, QueryResult<Vec<T>>>
    where
        Self: LoadQuery<'static, SqliteConnection, T>,
    {
        on_sqlite(connection, |connection| RunQueryDsl::load(self, connection))
    }

    fn find_on_sqlite<T: Send + 'static>(
        self,
        connection: &mut AsyncSqliteConnection,
    ) -> BoxFuture<'_, QueryResult<T>>
    where
        Self: LoadQuery<'static, SqliteConnection, T>,
    {
        on_sqlite(connection, |connection| {
            RunQueryDsl::get_result(self, connection)
        })
    }
}

impl AnyQuery<Sqlite, ()> {
    fn execute_on_sqlite(
        self,
        connection: &mut AsyncSqliteConnection,
    ) -> BoxFuture<'_, QueryResult<usize>> {
        on_sqlite(connection, |connection| {
            RunQueryDsl::execute(self, connection)
        })
    }
}

/// What runs on the thread that an SQLite connection blocks.
type SqliteTask = Box<dyn FnOnce(&mut SqliteConnection) -> TaskOutcome + Send>;

/// Runs work on the thread that an SQLite connection blocks.
pub(crate) fn on_sqlite<T: Send + 'static>(
    connection: &mut AsyncSqliteConnection,
    work: impl FnOnce(&mut SqliteConnection) -> QueryResult<T> + Send + 'static,
) -> BoxFuture<'_, QueryResult<T>> {
    let done = run_task(
        connection,
        Box::new(|connection| Box::new(work(connection))),
    );
    Box::pin(async {
        let outcome = done.await?.downcast::<QueryResult<T>>();
        outcome.map_or_else(
            |_| Err(QueryBuilderError("it has another type".into())),
            |outcome| *outcome,
        )
    })
}

fn run_task(
    connection: &mut AsyncSqliteConnection,
    task: SqliteTask,
) -> BoxFuture<'_, QueryResult<TaskOutcome>> {
    connection.spawn_blocking(|connection| Ok(task(connection)))
}
