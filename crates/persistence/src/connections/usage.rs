//! How the connections of a process are used, for the operator's metrics.

use std::sync::atomic::Ordering;

use deadpool::Status;

use crate::connections::pools::Pools;

/// The connections of one process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionUse {
    /// Most connections that the process may hold.
    pub allowed: usize,
    /// Connections that are lanes of a thread.
    pub of_threads: usize,
    /// Connections that are leased to a query.
    pub leased: usize,
    /// Open connections that wait for a query.
    pub idle: usize,
    /// Queries that wait for a connection.
    pub waiting: usize,
}

impl ConnectionUse {
    /// How these pools are used now.
    pub(crate) fn of(pools: &Pools) -> Self {
        match pools {
            Pools::Postgres(pool) => {
                let leases = Self::of_pool(pool.status());
                let of_threads = pool.taken();
                Self {
                    allowed: leases.allowed + of_threads,
                    of_threads,
                    ..leases
                }
            }
            Pools::Sqlite(pools) => {
                let readers = Self::of_pool(pools.readers.status());
                let writer = Self::of_pool(pools.writer.status());
                let of_threads = pools.open_lanes.load(Ordering::Relaxed);
                Self {
                    allowed: readers.allowed + writer.allowed + of_threads,
                    of_threads,
                    leased: readers.leased + writer.leased,
                    idle: readers.idle + writer.idle,
                    waiting: readers.waiting + writer.waiting,
                }
            }
        }
    }

    fn of_pool(pool: Status) -> Self {
        Self {
            allowed: pool.max_size,
            of_threads: 0,
            leased: pool.size.saturating_sub(pool.available),
            idle: pool.available,
            waiting: pool.waiting,
        }
    }
}
