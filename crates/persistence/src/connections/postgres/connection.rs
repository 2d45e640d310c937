//! An open connection to a PostgreSQL server, and how long the answer to a statement is awaited.
//! And the slot for the connection of a lane, which the pool closes for a lease when the server
//! grants no further connection.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};
use std::time::Duration;

use diesel::QueryResult;
use diesel::result::DatabaseErrorKind;
use diesel::result::Error::DatabaseError;
use diesel_async::{AnsiTransactionManager, AsyncPgConnection, TransactionManager as _};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::error::NO_ANSWER;

/// The longest wait for the answer to a statement. The server ends a statement a little earlier,
/// unless it stands still.
const ANSWER: Duration = Duration::from_secs(32);

/// An open connection. The runtime in which it was opened drives its socket.
pub(crate) struct PostgresConnection {
    /// Runs statements, which end in time where [`Driver::answered`] awaits them.
    pub(crate) statements: AsyncPgConnection,
    /// Moves the bytes.
    pub(crate) driver: Driver,
}

/// The task that moves the bytes of a connection.
pub(crate) struct Driver {
    task: JoinHandle<()>,
    is_stopped: AtomicBool,
}

impl PostgresConnection {
    /// Whether the connection has ended.
    pub(crate) fn is_closed(&self) -> bool {
        self.driver.is_stopped.load(Ordering::Relaxed) || self.driver.task.is_finished()
    }

    /// Whether the connection has ended, or was left within a transaction.
    pub(crate) fn is_broken(&mut self) -> bool {
        self.is_closed()
            || AnsiTransactionManager::is_broken_transaction_manager(&mut self.statements)
    }
}

impl Driver {
    pub(crate) fn new(task: JoinHandle<()>) -> Self {
        Self {
            task,
            is_stopped: AtomicBool::new(false),
        }
    }

    /// Waits for the answer to a statement of this connection. A server that stands still gives none:
    /// after a while the connection is closed, and the statement fails. Whether it took effect is then
    /// unknown.
    pub(crate) async fn answered<T>(
        &self,
        statement: impl Future<Output = QueryResult<T>>,
    ) -> QueryResult<T> {
        let answered = timeout(ANSWER, statement).await;
        answered.unwrap_or_else(|_| {
            self.is_stopped.store(true, Ordering::Relaxed);
            self.task.abort();
            let message = Box::new(NO_ANSWER.to_owned());
            Err(DatabaseError(DatabaseErrorKind::ClosedConnection, message))
        })
    }
}

/// A slot for one connection.
#[derive(Default)]
pub(super) struct LaneConnection(RwLock<Option<Arc<PostgresConnection>>>);

impl LaneConnection {
    /// The connection, unless it has ended.
    pub(super) fn open(&self) -> Option<Arc<PostgresConnection>> {
        let connection = self.read();
        let open = connection.as_ref().filter(|open| !open.is_closed());
        open.cloned()
    }

    /// Whether a statement is in flight.
    pub(super) fn is_in_use(&self) -> bool {
        // the slot itself holds one reference
        let connection = self.read();
        let connection = connection.as_ref();
        connection.is_some_and(|connection| Arc::strong_count(connection) > 1)
    }

    /// Fills or empties the slot. The connection before ends with the statements in flight on it.
    pub(super) fn put(&self, new: Option<Arc<PostgresConnection>>) {
        let connection = self.0.write();
        *connection.unwrap_or_else(PoisonError::into_inner) = new;
    }

    /// Empties the slot if it has this connection.
    pub(super) fn abandon(&self, abandoned: &Arc<PostgresConnection>) {
        let connection = self.0.write();
        let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection.take_if(|connection| Arc::ptr_eq(connection, abandoned));
    }

    fn read(&self) -> RwLockReadGuard<'_, Option<Arc<PostgresConnection>>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }
}
