//! Migrates a database to the newest migration or to a given one, forwards or back. The migrations
//! are embedded in the binary.

#[cfg(feature = "postgres")]
mod postgres;
mod run;
mod steps;

use refract_boxed_futures::boxed;
use std::sync::Arc;

use diesel::SqliteConnection;
use diesel_migrations::{EmbeddedMigrations, embed_migrations};

use self::run::{Run, blocking, go, outcome, unavailable};
pub use self::steps::{MigrationPlan, MigrationStep, RemovedData};
use self::steps::{MigrationTarget, SQLITE_COLUMNS, SQLITE_TABLES};
use crate::connections::sqlite::{READER, WRITER, keep_write_ahead_log};
use crate::connections::{Pools, on_postgres};
use crate::error::{MigrateError, SchemaError};
use crate::queries::Database;

const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

#[boxed]
impl Database {
    /// Runs the missing migrations and returns how many there were.
    ///
    /// All run in one transaction, all or none. Any number of processes may migrate at once. A
    /// database that misses none is only read.
    ///
    /// # Errors
    /// A migration failed, or the database has one that this binary does not know.
    pub async fn migrate(&self) -> Result<usize, MigrateError> {
        let steps = self.migrating(MigrationTarget::Newest, Run::Kept).await?;
        Ok(steps.steps.len())
    }

    /// Checks that the database has exactly the migrations of this binary, and changes nothing where
    /// it has others.
    ///
    /// # Errors
    /// The database is older or newer, empty or another program's, or cannot be read.
    pub async fn check_schema(&self) -> Result<(), SchemaError> {
        let connections = self.connections.clone();
        let work = async move {
            let checked = match connections.pools() {
                Pools::Postgres(pool) => on_postgres!(pool, postgres::check(pool).await),
                Pools::Sqlite(pools) => {
                    let file = Arc::clone(&pools.file);
                    tokio::task::spawn_blocking(move || {
                        let mut reader = file.connect(READER).map_err(|e| unavailable(&e))?;
                        steps::check(&mut reader, &SQLITE, SQLITE_TABLES)?;
                        // a backup's copy has no write-ahead log
                        file.connect(WRITER)
                            .and_then(|mut writer| keep_write_ahead_log(&mut writer))
                            .map_err(|e| unavailable(&e).into())
                    })
                    .await
                }
            };
            checked.unwrap_or_else(|error| Err(SchemaError::Unread(error.to_string())))
        };
        // the outer error means that the runtime shuts down
        self.connections
            .run(Box::pin(async { Ok(work.await) }))
            .await?
    }

    /// Plans [`Database::migrate_to`], or [`Database::migrate`] without a number, by running it in
    /// a transaction that is rolled back. Other users of the tables wait meanwhile.
    ///
    /// # Errors
    /// As [`Database::migrate_to`].
    pub async fn plan_migration(&self, number: Option<u64>) -> Result<MigrationPlan, MigrateError> {
        let target = number.map_or(MigrationTarget::Newest, MigrationTarget::Number);
        self.migrating(target, Run::RolledBack).await
    }

    /// Migrates the database to the migration with this number, in one transaction: runs the
    /// missing ones up to it, and undoes later ones, which removes their tables and columns with
    /// all data in them.
    ///
    /// # Errors
    /// There is no such migration, a migration failed, or the database has one that this binary
    /// does not know.
    pub async fn migrate_to(&self, number: u64) -> Result<MigrationPlan, MigrateError> {
        self.migrating(MigrationTarget::Number(number), Run::Kept)
            .await
    }

    async fn migrating(
        &self,
        target: MigrationTarget,
        run: Run,
    ) -> Result<MigrationPlan, MigrateError> {
        let connections = self.connections.clone();
        let work = async move {
            match connections.pools() {
                Pools::Postgres(pool) => {
                    on_postgres!(pool, postgres::migrate(pool, target, run).await)
                }
                Pools::Sqlite(pools) => {
                    let file = Arc::clone(&pools.file);
                    blocking(move || {
                        let opened = file.connect(WRITER);
                        migrate_sqlite(opened.map_err(|error| unavailable(&error))?, target, run)
                    })
                    .await
                }
            }
        };
        // the outer error means that the runtime shuts down
        self.connections
            .run(Box::pin(async { Ok(work.await) }))
            .await?
    }
}

fn migrate_sqlite(
    mut connection: SqliteConnection,
    target: MigrationTarget,
    run: Run,
) -> Result<MigrationPlan, MigrateError> {
    if target == MigrationTarget::Newest
        && steps::check(&mut connection, &SQLITE, SQLITE_TABLES).is_ok()
    {
        return Ok(MigrationPlan::default());
    }
    let done = connection
        .immediate_transaction(|connection| go(connection, &SQLITE, target, run, SQLITE_COLUMNS));
    outcome(done)
}
