//! Idle connections of one thread, and where those of all threads are.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::server_connection::ServerConnection;

/// Idle connections, the longest idle first.
pub(super) struct IdleConnections {
    connections: Mutex<VecDeque<IdleConnection>>,
    keep_alive: Duration,
}

struct IdleConnection {
    connection: ServerConnection,
    since: Instant,
}

impl IdleConnections {
    /// Creates a pool of connections idle for less than `keep_alive`.
    pub(super) fn new(keep_alive: Duration) -> Self {
        Self {
            connections: Mutex::default(),
            keep_alive,
        }
    }

    /// Takes the most recently used connection that is ready. Closes those that are not: the server
    /// has closed them, or an answer was not read to its end.
    pub(super) fn take(&self) -> Option<ServerConnection> {
        let mut connections = self.connections();
        while let Some(idle) = connections.pop_back() {
            if idle.since.elapsed() < self.keep_alive && idle.connection.is_ready() {
                return Some(idle.connection);
            }
        }
        None
    }

    /// Locks the connections. Another thread looks only before it would open a connection over TLS,
    /// so the lock hardly ever waits.
    fn connections(&self) -> MutexGuard<'_, VecDeque<IdleConnection>> {
        self.connections
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a connection to the pool, and closes connections that were idle for too long.
    pub(super) fn put(&self, connection: ServerConnection) {
        let mut connections = self.connections();
        while let Some(longest) = connections.front()
            && longest.since.elapsed() >= self.keep_alive
        {
            connections.pop_front();
        }
        if !connection.is_closed() {
            let since = Instant::now();
            connections.push_back(IdleConnection { connection, since });
        }
    }
}

/// The pools of all threads with connections to one server. `Debug` shows none.
#[derive(Default)]
pub(super) struct PoolsOfThreads(Mutex<Vec<Weak<IdleConnections>>>);

impl PoolsOfThreads {
    /// Adds the pool of a thread.
    pub(super) fn add(&self, pool: &Arc<IdleConnections>) {
        let mut pools = self.pools();
        pools.retain(|pool| pool.strong_count() > 0);
        pools.push(Arc::downgrade(pool));
    }

    /// Takes a connection that is ready from the first pool that has one.
    pub(super) fn take(&self) -> Option<ServerConnection> {
        let pools = self.pools();
        let mut pools = pools.iter().filter_map(Weak::upgrade);
        pools.find_map(|pool| pool.take())
    }

    fn pools(&self) -> MutexGuard<'_, Vec<Weak<IdleConnections>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for PoolsOfThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PoolsOfThreads(..)")
    }
}
