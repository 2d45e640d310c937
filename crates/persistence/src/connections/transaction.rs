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
mod tests;
