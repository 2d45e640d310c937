//! Transactions that write, on a connection of either database, and the locks of their rows.

use std::sync::Arc;

use diesel::connection::AnsiTransactionManager;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sqlite::Sqlite;
use diesel::{QueryResult, RunQueryDsl, SqliteConnection};
use diesel_async::{AsyncConnection, TransactionManager as _};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, OwnedMutexGuard};

use crate::connections::connection::{ConnectionRef, ExclusiveConnection, on_postgres};
use crate::connections::sqlite::AsyncSqliteConnection;

/// A transaction that writes. Its statements are run by `on!(tx, execute(…))`. One that is dropped
/// before [`Transaction::commit`] is rolled back.
///
/// A body that has one runs as a task of the main runtime, to its end (see [`Database::begin`]), so
/// that no statement is in flight when it is dropped.
///
/// [`Database::begin`]: crate::queries::database::Database::begin
pub(crate) struct Transaction {
    connection: OwnedMutexGuard<ExclusiveConnection>,
    /// The same connection, for the task that rolls back; nothing else waits for it.
    shared: Arc<Mutex<ExclusiveConnection>>,
    has_ended: bool,
}

impl Transaction {
    /// Begins on a connection. On SQLite with the write lock: a transaction that read first and then
    /// wrote could wait for a lock whose holder waits for that read to end.
    pub(crate) async fn begin(mut connection: ExclusiveConnection) -> QueryResult<Self> {
        match &mut connection {
            ExclusiveConnection::Postgres(lease) => on_postgres!(lease, {
                type Manager = diesel_async::AnsiTransactionManager;
                let open = &mut **lease;
                let beginning = Manager::begin_transaction_sql(&mut open.statements, "BEGIN");
                open.driver.answered(beginning).await?;
            }),
            ExclusiveConnection::Sqlite(lease) => begin_sqlite(lease).await?,
        }
        let shared = Arc::new(Mutex::new(connection));
        Ok(Self {
            connection: Arc::clone(&shared).lock_owned().await,
            shared,
            has_ended: false,
        })
    }

    /// The connection as statements use it.
    pub(crate) fn by_database(&mut self) -> ConnectionRef<'_> {
        self.connection.by_database()
    }

    /// Commits. After an error the database rolled back, or the connection was lost meanwhile.
    pub(crate) async fn commit(mut self) -> QueryResult<()> {
        async fn commit<C: AsyncConnection>(connection: &mut C) -> QueryResult<()> {
            C::TransactionManager::commit_transaction(connection).await
        }
        self.has_ended = true;
        match &mut *self.connection {
            ExclusiveConnection::Postgres(lease) => {
                on_postgres!(lease, {
                    let open = &mut **lease;
                    open.driver.answered(commit(&mut open.statements)).await
                })
            }
            ExclusiveConnection::Sqlite(lease) => commit(&mut **lease).await,
        }
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // where there is no runtime any more, the connection ends with the process
        if let (false, Ok(runtime)) = (self.has_ended, Handle::try_current()) {
            runtime.spawn(roll_back(Arc::clone(&self.shared)));
        }
    }
}

/// Rolls back, then gives the connection back to its pool. One that cannot roll back is broken: the
/// pool drops it, and the database rolls back.
async fn roll_back(shared: Arc<Mutex<ExclusiveConnection>>) {
    async fn roll_back<C: AsyncConnection>(connection: &mut C) -> QueryResult<()> {
        C::TransactionManager::rollback_transaction(connection).await
    }
    let _ = match &mut *shared.lock().await {
        ExclusiveConnection::Postgres(lease) => {
            on_postgres!(lease, {
                let open = &mut **lease;
                open.driver.answered(roll_back(&mut open.statements)).await
            })
        }
        ExclusiveConnection::Sqlite(lease) => roll_back(&mut **lease).await,
    };
}

async fn begin_sqlite(connection: &mut AsyncSqliteConnection) -> QueryResult<()> {
    let begin = |connection: &mut SqliteConnection| {
        AnsiTransactionManager::begin_transaction_sql(connection, "BEGIN IMMEDIATE")
    };
    connection.spawn_blocking(begin).await
}

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

#[cfg(test)]
mod tests {
    use diesel::sql_query;
    use diesel::sql_types::BigInt;
    use refract_test_support::backend::Backend;
    use refract_test_support::on_both;
    use refract_test_support::postgres::fresh_database;

    use super::*;
    use crate::connections::{Connections, MissingFile, on};

    on_both!(
        with crate::connections::transaction::tests::over;
        a_transaction_that_is_dropped_is_rolled_back_and_locks_nothing,
        a_cancelled_caller_stops_no_transaction,
    );

    async fn over(backend: Backend) -> Fixture {
        match backend {
            Backend::Sqlite => Fixture::sqlite().await,
            Backend::Postgres => Fixture::postgres().await,
        }
    }

    struct Fixture {
        connections: Connections,
        _keeper: Box<dyn std::any::Any + Send + Sync>,
    }

    impl Fixture {
        async fn sqlite() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let url = format!("sqlite://{}", folder.path().join("refract.db").display());
            Self::over(url, folder).await
        }

        async fn postgres() -> Self {
            let database = fresh_database().await;
            Self::over(database.url().to_owned(), database).await
        }

        async fn over(url: String, keeper: impl std::any::Any + Send + Sync) -> Self {
            let url = crate::DatabaseUrl::from(url);
            let runtime = Handle::current();
            let connections = Connections::open(&url, 2, MissingFile::IsMade, runtime)
                .await
                .unwrap();
            let it = Self {
                connections,
                _keeper: Box::new(keeper),
            };
            it.run("CREATE TABLE numbers (number BIGINT NOT NULL)")
                .await;
            it
        }

        async fn run(&self, statement: &'static str) {
            let running = self.connections.write(async move |mut connection| {
                on!(connection, execute(sql_query(statement)))?;
                Ok(())
            });
            running.await.unwrap();
        }

        async fn count(&self) -> i64 {
            let count = diesel::dsl::sql::<BigInt>("(SELECT count(*) FROM numbers)");
            let counting = self.connections.read(async move |mut connection| {
                Ok(on!(connection, get_result(diesel::select(count)))?)
            });
            counting.await.unwrap()
        }
    }

    async fn a_transaction_that_is_dropped_is_rolled_back_and_locks_nothing(it: Fixture) {
        let insert = || sql_query("INSERT INTO numbers VALUES (1)");
        for _ in 0..5 {
            let left_early = it.connections.begin(async move |mut tx| {
                on!(tx, execute(insert()))?;
                Ok(())
            });
            left_early.await.unwrap();
            let failed = it.connections.begin(async move |mut tx| {
                on!(tx, execute(insert()))?;
                on!(tx, execute(sql_query("INSERT INTO nothing VALUES (1)")))?;
                Ok(tx.commit().await?)
            });
            failed.await.unwrap_err();
        }
        assert_eq!(it.count().await, 0);
        it.run("INSERT INTO numbers VALUES (2)").await;
        assert_eq!(it.count().await, 1);
    }

    async fn a_cancelled_caller_stops_no_transaction(it: Fixture) {
        let (go_on, waits) = tokio::sync::oneshot::channel::<()>();
        let (is_begun, begun) = tokio::sync::oneshot::channel();
        let body = it.connections.begin(async move |mut tx| {
            on!(tx, execute(sql_query("INSERT INTO numbers VALUES (1)")))?;
            is_begun.send(()).unwrap();
            waits.await.unwrap();
            Ok(tx.commit().await?)
        });
        let caller = tokio::spawn(body);
        begun.await.unwrap();
        caller.abort();
        go_on.send(()).unwrap();
        while it.count().await == 0 {
            tokio::task::yield_now().await;
        }
    }
}
