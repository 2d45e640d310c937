//! The connection pools of one process, to a PostgreSQL server or to an SQLite file.

use std::sync::Arc;

use crate::connections::address::Address;
use crate::connections::connection::{Connection, ExclusiveConnection};
use crate::connections::database_url::DatabaseUrl;
use crate::connections::postgres::PostgresPool;
use crate::connections::sqlite_file::MissingFile;
use crate::connections::sqlite_pool::SqlitePools;
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

    /// Checks that writes go to the file that the address names: an SQLite file may have been
    /// deleted or replaced while it is open.
    pub(crate) fn check_place(&self) -> Result<(), PersistenceError> {
        match self {
            Self::Postgres(_) => Ok(()),
            Self::Sqlite(pools) => pools.file.check(),
        }
    }
}
