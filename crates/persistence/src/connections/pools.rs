//! The connection pools of one process, to a PostgreSQL server or to an SQLite file, and how its
//! connections are used.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use deadpool::Status;

use crate::connections::address::Address;
use crate::connections::connection::{Connection, ExclusiveConnection, on_postgres};
use crate::connections::database_url::DatabaseUrl;
use crate::connections::postgres::PostgresPool;
use crate::connections::sqlite::{MissingFile, SqlitePools};
use crate::error::{ConnectError, PersistenceError};

/// The pools of the database that is in use.
pub(crate) enum Pools {
    /// To a PostgreSQL server.
    Postgres(Arc<PostgresPool>),
    /// To an SQLite file.
    Sqlite(SqlitePools),
}

impl Pools {
    /// The name of the database system in OpenTelemetry's semantic conventions.
    pub(crate) fn system(&self) -> &'static str {
        match self {
            Self::Postgres(_) => "postgresql",
            Self::Sqlite(_) => "sqlite",
        }
    }

    /// Opens the pools on the current runtime, which drives them afterwards; `size` is the size of
    /// PostgreSQL's pool.
    pub(crate) async fn open(
        url: DatabaseUrl,
        size: usize,
        missing: MissingFile,
    ) -> Result<Self, ConnectError> {
        match Address::parse(&url.read()?)? {
            Address::Sqlite(path) => {
                let opening = move || SqlitePools::open(path, missing);
                let opening = tokio::task::spawn_blocking(opening).await;
                opening
                    .unwrap_or(Err(ConnectError::ShuttingDown))
                    .map(Self::Sqlite)
            }
            Address::Postgres(address) => {
                let pool = PostgresPool::open(*address, url, size).await?;
                Ok(Self::Postgres(Arc::new(pool)))
            }
        }
    }

    /// Leases a connection for a query that only reads.
    pub(crate) async fn reader(&self) -> Result<Connection, PersistenceError> {
        Ok(match self {
            Self::Postgres(pool) => Connection::PostgresLease(pool.lease().await?),
            Self::Sqlite(pools) => Connection::SqliteLease(pools.readers.get().await?),
        })
    }

    /// Leases a connection for a query that writes.
    pub(crate) async fn writer(&self) -> Result<ExclusiveConnection, PersistenceError> {
        Ok(match self {
            Self::Postgres(pool) => ExclusiveConnection::Postgres(pool.lease().await?),
            Self::Sqlite(pools) => {
                let writer = pools.writer.get().await?;
                pools.file.check()?;
                ExclusiveConnection::Sqlite(writer)
            }
        })
    }

    /// Gives up the connections to a PostgreSQL server after a write that met one which takes none.
    pub(crate) fn renew_after<T>(&self, written: &Result<T, PersistenceError>) {
        if let (Err(PersistenceError::ReadOnly(_)), Self::Postgres(pool)) = (written, self) {
            on_postgres!(pool, pool.renew());
        }
    }

    /// Checks that writes go to the file that the address names: an SQLite file may have been
    /// deleted or replaced while it is open.
    pub(crate) fn check_place(&self) -> Result<(), PersistenceError> {
        match self {
            Self::Postgres(_) => Ok(()),
            Self::Sqlite(pools) => pools.file.check(),
        }
    }
}

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
