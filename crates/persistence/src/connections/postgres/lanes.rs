//! Connections to a PostgreSQL server that belong to one thread, on which statements are pipelined.
//!
//! Pipelined statements cost client and server far less than single ones: neither wakes up for each
//! statement. The thread that uses a lane also moves its bytes, so a lane must not be lent to
//! another thread, whose statements would stall whenever the first is busy.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::connections::postgres::connection::{LaneConnection, PostgresConnection};
use crate::connections::postgres::pool::PostgresPool;
use crate::error::{PersistenceError, WAIT};

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
    connection: Arc<LaneConnection>,
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
        let new = Self {
            pool: Arc::clone(pool),
            reading: Lane::default(),
            writing: std::iter::repeat_with(Lane::default)
                .take(writing)
                .collect(),
        };
        let lanes = std::iter::once(&new.reading).chain(&new.writing);
        pool.add_lanes(lanes.map(|lane| &lane.connection));
        new
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
        let idle = |lane: &&Lane| !lane.connection.is_in_use();
        for lane in self.writing.iter().filter(idle) {
            if let Some(open) = lane.connection(&self.pool).await? {
                return Ok(Some(open));
            }
        }
        Ok(None)
    }

    /// Sends no more statements to the read connection, which has stopped answering.
    pub(crate) fn abandon_reader(&self) {
        self.reading.connection.put(None);
    }

    /// Sends no more groups to a write connection that has stopped answering.
    pub(crate) fn abandon_writer(&self, connection: &Arc<PostgresConnection>) {
        for lane in &self.writing {
            lane.connection.abandon(connection);
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
    /// The open connection. `None` while another caller opens it, which may take long, when the
    /// lanes have reached their share of the pool, and when the server grants no further connection.
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
        if !*is_taken || pool.is_waited_for() {
            return Ok(None);
        }
        // boxed: opening is rare and would enlarge the future of every statement
        let opening = timeout(WAIT, Box::pin(pool.server.connect())).await;
        let opening = opening.map_err(|_| PersistenceError::no_answer())?;
        if opening.is_err() && pool.server.is_full() {
            *is_taken = false;
            pool.give_back();
            return Ok(None);
        }
        let opened = opening.map_err(|error| PersistenceError::Unavailable(error.to_string()))?;
        let connection = Arc::new(opened);
        self.renewals.store(renewals, Ordering::Relaxed);
        self.connection.put(Some(Arc::clone(&connection)));
        Ok(Some(connection))
    }

    fn open(&self, renewals: u64) -> Option<Arc<PostgresConnection>> {
        let is_current = self.renewals.load(Ordering::Relaxed) == renewals;
        is_current.then(|| self.connection.open()).flatten()
    }
}
