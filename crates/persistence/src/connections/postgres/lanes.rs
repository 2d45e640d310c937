//! Connections to a PostgreSQL server that belong to one thread, on which statements are pipelined.
//!
//! Pipelined statements cost client and server far less than single ones: neither wakes up for each
//! statement. The thread that uses a lane also moves its bytes, so a lane must not be lent to
//! another thread, whose statements would stall whenever the first is busy.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::connections::deadline::WAIT;
use crate::connections::postgres::pool::PostgresPool;
use crate::connections::postgres::server::PostgresConnection;
use crate::error::PersistenceError;

/// Most groups of rows in flight at once, each on a lane.
const GROUPS_AT_ONCE: usize = 3;

/// The lanes of one thread.
pub(crate) struct PostgresLanes {
    pool: Arc<PostgresPool>,
    /// Carries every statement that reads.
    reading: Lane,
    /// Carry groups of rows that are inserted.
    writing: Box<[Lane]>,
}

/// A slot for one connection, which is opened at first use and reopened after it breaks.
#[derive(Default)]
struct Lane {
    connection: RwLock<Option<Arc<PostgresConnection>>>,
    /// How often the pool had given up all connections when this one was opened.
    renewals: AtomicU64,
    /// Whether this lane has reserved a connection of the pool; locked while the connection is
    /// opened.
    is_taken: Mutex<bool>,
}

impl PostgresLanes {
    /// Up to this many lanes, at least one; the first is for reads. No connection is opened yet.
    pub(crate) fn new(pool: &Arc<PostgresPool>, lanes: usize) -> Self {
        let writing = lanes.saturating_sub(1).min(GROUPS_AT_ONCE);
        Self {
            pool: Arc::clone(pool),
            reading: Lane::default(),
            writing: std::iter::repeat_with(Lane::default)
                .take(writing)
                .collect(),
        }
    }

    /// How many groups of rows may be in flight at once.
    pub(crate) fn groups_at_once(&self) -> usize {
        self.writing.len()
    }

    /// The connection for a read; `None` when the caller has to lease one.
    ///
    /// # Errors
    /// When the connection cannot be opened.
    pub(crate) async fn reader(&self) -> Result<Option<Arc<PostgresConnection>>, PersistenceError> {
        self.reading.connection(&self.pool).await
    }

    /// The connection of an idle lane for a group of rows; `None` when the caller has to lease one.
    ///
    /// # Errors
    /// When the connection cannot be opened.
    pub(crate) async fn writer(&self) -> Result<Option<Arc<PostgresConnection>>, PersistenceError> {
        match self.writing.iter().find(|lane| !lane.is_in_use()) {
            Some(lane) => lane.connection(&self.pool).await,
            None => Ok(None),
        }
    }

    /// Sends no more statements to the read connection, which has stopped answering.
    pub(crate) fn abandon_reader(&self) {
        self.reading.put(None);
    }

    /// Sends no more groups to a write connection that has stopped answering.
    pub(crate) fn abandon_writer(&self, connection: &Arc<PostgresConnection>) {
        for lane in &self.writing {
            lane.abandon(connection);
        }
    }
}

impl Drop for PostgresLanes {
    fn drop(&mut self) {
        for lane in std::iter::once(&mut self.reading).chain(&mut self.writing) {
            if *lane.is_taken.get_mut() {
                self.pool.give_back();
            }
        }
    }
}

impl Lane {
    /// The open connection. `None` while another caller opens it, which may take long, and when the
    /// lanes have reached their share of the pool.
    async fn connection(
        &self,
        pool: &PostgresPool,
    ) -> Result<Option<Arc<PostgresConnection>>, PersistenceError> {
        let renewals = pool.renewals();
        if let Some(open) = self.open(renewals) {
            return Ok(Some(open));
        }
        let Ok(mut is_taken) = self.is_taken.try_lock() else {
            return Ok(None);
        };
        *is_taken = *is_taken || pool.take();
        if !*is_taken {
            return Ok(None);
        }
        // boxed: opening is rare and would enlarge the future of every statement
        let opening = timeout(WAIT, Box::pin(pool.server.connect())).await;
        let opening = opening.map_err(|_| PersistenceError::no_answer())?;
        let opened = opening.map_err(|error| PersistenceError::Unavailable(error.to_string()))?;
        let connection = Arc::new(opened);
        self.renewals.store(renewals, Ordering::Relaxed);
        self.put(Some(Arc::clone(&connection)));
        Ok(Some(connection))
    }

    /// Whether a statement is in flight.
    fn is_in_use(&self) -> bool {
        let connection = self.connection.read();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        // the lane itself holds one reference
        connection
            .as_ref()
            .is_some_and(|connection| Arc::strong_count(connection) > 1)
    }

    fn abandon(&self, abandoned: &Arc<PostgresConnection>) {
        let connection = self.connection.write();
        let mut connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection.take_if(|connection| Arc::ptr_eq(connection, abandoned));
    }

    fn open(&self, renewals: u64) -> Option<Arc<PostgresConnection>> {
        if self.renewals.load(Ordering::Relaxed) != renewals {
            return None;
        }
        let connection = self.connection.read();
        let connection = connection.unwrap_or_else(PoisonError::into_inner);
        connection
            .as_ref()
            .filter(|connection| !connection.is_closed())
            .cloned()
    }

    fn put(&self, new: Option<Arc<PostgresConnection>>) {
        let connection = self.connection.write();
        *connection.unwrap_or_else(PoisonError::into_inner) = new;
    }
}
