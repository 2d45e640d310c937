//! Brings a database up to date. The migrations are embedded in the binary.

use diesel::backend::Backend;
use diesel::connection::SimpleConnection as _;
use diesel::migration::MigrationSource;
use diesel::{Connection as _, SqliteConnection};
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::database::{Database, Pools};
use crate::error::{MigrateError, PersistenceError};
use crate::sqlite;

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// One process migrates at a time; the others wait, up to a minute, and find nothing left to do.
/// The number is the first eight bytes of the word "refract ".
const LOCK: &str = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0; \
    SELECT pg_advisory_xact_lock(8243107334417773600)";

impl Database {
    /// Runs the migrations that the database lacks and returns how many there were.
    ///
    /// All of them or none: they run in one transaction. Any number of processes may do this at
    /// once.
    ///
    /// # Errors
    /// A migration failed, or the database has one that this binary does not know.
    pub async fn migrate(&self) -> Result<usize, MigrateError> {
        let database = self.clone();
        let work = async move {
            match database.pools() {
                Pools::Postgres(connections) => {
                    let opening = connections.server.connect().await;
                    let open = opening.map_err(|error| unavailable(&error))?;
                    blocking(move || migrate_postgres(open.connection)).await
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
        // the outer error is that of a runtime that ends
        self.run(async { Ok(work.await) }).await?
    }
}

fn unavailable(error: &diesel::ConnectionError) -> MigrateError {
    MigrateError::Persistence(PersistenceError::Unavailable(error.to_string()))
}

/// diesel's migrations block their thread.
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
    // the newest comes first: the last one is where a newer refract went on
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
