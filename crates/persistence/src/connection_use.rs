//! How the connections are used, for the operator's metrics.

use std::sync::atomic::Ordering;

use deadpool::Status;

use crate::database::{Database, Pools};

/// The connections of one process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionUse {
    /// How many it may hold.
    pub allowed: usize,
    /// Those that belong to a thread, whose calls share them.
    pub of_threads: usize,
    /// Those that one query each has to itself.
    pub leased: usize,
    /// Open ones that wait for a query.
    pub idle: usize,
    /// Queries that wait for a connection.
    pub waiting: usize,
}

impl Database {
    /// How its connections are used now.
    pub fn connection_use(&self) -> ConnectionUse {
        match self.pools() {
            Pools::Postgres(connections) => {
                let pool = ConnectionUse::of(connections.leased.status());
                let of_threads = connections.taken();
                ConnectionUse {
                    allowed: pool.allowed + of_threads,
                    of_threads,
                    ..pool
                }
            }
            Pools::Sqlite(pools) => {
                let readers = ConnectionUse::of(pools.readers.status());
                let writer = ConnectionUse::of(pools.writer.status());
                let of_threads = pools.of_threads.load(Ordering::Relaxed);
                ConnectionUse {
                    allowed: readers.allowed + writer.allowed + of_threads,
                    of_threads,
                    leased: readers.leased + writer.leased,
                    idle: readers.idle + writer.idle,
                    waiting: readers.waiting + writer.waiting,
                }
            }
        }
    }
}

impl ConnectionUse {
    fn of(pool: Status) -> Self {
        Self {
            allowed: pool.max_size,
            of_threads: 0,
            leased: pool.size.saturating_sub(pool.available),
            idle: pool.available,
            waiting: pool.waiting,
        }
    }
}
