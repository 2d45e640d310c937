//! Brings a database up to date. The migrations are embedded in the binary.

use diesel::backend::Backend;
use diesel::connection::SimpleConnection as _;
use diesel::migration::MigrationSource;
use diesel::{Connection as _, SqliteConnection};
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::connections::{Pools, sqlite};
use crate::error::{MigrateError, PersistenceError};
use crate::queries::Database;

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// Lets one process migrate at a time: the others wait, up to a minute, and find nothing left to
/// do. The number of the lock is the first eight bytes of the word "refract ".
const LOCK: &str = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0; \
    SELECT pg_advisory_xact_lock(8243107334417773600)";

impl Database {
    /// Runs the migrations that the database lacks and returns how many there were.
    ///
    /// They run in one transaction, all or none. Any number of processes may migrate at once.
    ///
    /// # Errors
    /// A migration failed, or the database has one that this binary does not know.
    pub async fn migrate(&self) -> Result<usize, MigrateError> {
        let connections = self.connections.clone();
        let work = async move {
            match connections.pools() {
                Pools::Postgres(pool) => {
                    let opening = pool.server.connect().await;
                    let opened = opening.map_err(|error| unavailable(&error))?;
                    blocking(move || migrate_postgres(opened.connection)).await
                }
                Pools::Sqlite(pools) => {
                    let path = pools.path.clone();
                    blocking(move || {
                        migrate_sqlite(
                            sqlite::open_writer(&path).map_err(|error| unavailable(&error))?,
                        )
                    })
                    .await
                }
            }
        };
        // the outer error is that of a runtime that shuts down
        self.connections.run(async { Ok(work.await) }).await?
    }
}

fn unavailable(error: &diesel::ConnectionError) -> MigrateError {
    MigrateError::Persistence(PersistenceError::Unavailable(error.to_string()))
}

/// Runs migrations, which block their thread, on a thread of the blocking pool.
async fn blocking(
    work: impl FnOnce() -> Result<usize, MigrateError> + Send + 'static,
) -> Result<usize, MigrateError> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(MigrateError::Failed(error.to_string())))
}

fn migrate_postgres(connection: AsyncPgConnection) -> Result<usize, MigrateError> {
    let mut connection: AsyncConnectionWrapper<AsyncPgConnection> = connection.into();
    connection.transaction(|connection| {
        connection.batch_execute(LOCK)?;
        run_pending(connection, POSTGRES)
    })
}

fn migrate_sqlite(mut connection: SqliteConnection) -> Result<usize, MigrateError> {
    connection.immediate_transaction(|connection| run_pending(connection, SQLITE))
}

fn run_pending<C, DB>(
    connection: &mut C,
    migrations: EmbeddedMigrations,
) -> Result<usize, MigrateError>
where
    C: MigrationHarness<DB>,
    DB: Backend,
{
    let failed =
        |error: Box<dyn std::error::Error + Send + Sync>| MigrateError::Failed(error.to_string());
    let known = MigrationSource::<DB>::migrations(&migrations).map_err(failed)?;
    let applied = connection.applied_migrations().map_err(failed)?;
    let is_known = |version: &_| known.iter().any(|known| known.name().version() == *version);
    // the newest comes first, so the last unknown one is where a newer refract went on
    if let Some(unknown) = applied.iter().rev().find(|version| !is_known(version)) {
        return Err(MigrateError::SchemaIsNewer {
            version: unknown.to_string(),
        });
    }
    let run = connection
        .run_pending_migrations(migrations)
        .map_err(failed)?;
    Ok(run.len())
}
