//! A connection to an SQLite file that belongs to one thread.
//!
//! It blocks the thread for the time of a statement: the statements of an API call find one row by
//! an index, which takes less time than another thread needs to wake up. In a file with a
//! write-ahead log readers and the writer do not wait for each other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use diesel::ConnectionError;
use tokio::sync::{Mutex, OnceCell, OwnedMutexGuard};

use crate::connections::connection::{AsyncSqliteConnection, BlockedThread};
use crate::connections::sqlite::READER;
use crate::connections::sqlite_file::SqliteFile;
use crate::connections::sqlite_pool::SqlitePools;
use crate::error::PersistenceError;

/// The lane of one thread; its connection only reads.
pub(crate) struct SqliteLane {
    file: Arc<SqliteFile>,
    connection: OnceCell<Arc<Mutex<AsyncSqliteConnection>>>,
    open_lanes: Arc<AtomicUsize>,
}

impl SqliteLane {
    /// A lane whose connection is opened at its first use.
    pub(crate) fn new(pools: &SqlitePools) -> Self {
        Self {
            file: Arc::clone(&pools.file),
            connection: OnceCell::new(),
            open_lanes: Arc::clone(&pools.open_lanes),
        }
    }

    /// The connection, opened on this thread at first use.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) async fn reader(
        &self,
    ) -> Result<OwnedMutexGuard<AsyncSqliteConnection>, PersistenceError> {
        let opening = self.connection.get_or_try_init(async || {
            let opened = self.file.connect(READER)?;
            self.open_lanes.fetch_add(1, Ordering::Relaxed);
            let connection = AsyncSqliteConnection::with_runtime(opened, BlockedThread::OfCaller);
            Ok(Arc::new(Mutex::new(connection)))
        });
        let connection = opening
            .await
            .map_err(|error: ConnectionError| PersistenceError::Unavailable(error.to_string()))?;
        Ok(Arc::clone(connection).lock_owned().await)
    }
}

impl Drop for SqliteLane {
    fn drop(&mut self) {
        if self.connection.initialized() {
            self.open_lanes.fetch_sub(1, Ordering::Relaxed);
        }
    }
}
