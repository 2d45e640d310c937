//! The connection of a lane: used by the lane's thread alone, and closed by the pool for a lease when
//! the server grants no further connection.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use crate::connections::postgres::connection::PostgresConnection;

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
