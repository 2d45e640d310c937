//! Migrates a database to the newest migration or to a given one, forwards or back. The migrations
//! are embedded in the binary.

mod removed_data;
mod steps;

use std::sync::Arc;

use diesel::connection::SimpleConnection as _;
use diesel::query_builder::SqlQuery;
use diesel::query_dsl::methods::LoadQuery;
use diesel::{Connection, SqliteConnection};
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

pub use self::removed_data::RemovedData;
use self::removed_data::{CountedRows, POSTGRES_COLUMNS, SQLITE_COLUMNS, TableColumn};
pub use self::steps::{MigrationPlan, MigrationStep};
use self::steps::{MigrationTarget, POSTGRES_TABLES, SQLITE_TABLES};
use crate::connections::Pools;
use crate::connections::sqlite::{READER, WRITER, keep_write_ahead_log};
use crate::error::{MigrateError, PersistenceError, SchemaError};
use crate::queries::Database;

const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");
const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");

/// An advisory lock: one process migrates at a time; the others wait, up to a minute, and find
/// nothing left to do. The number of the lock is the eight bytes of `"refract "`.
const LOCK: &str = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0; \
    SELECT pg_advisory_xact_lock(8243107334417773600)";

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
                Pools::Postgres(pool) => {
                    let opened = pool.server.connect().await.map_err(|e| unavailable(&e))?;
                    tokio::task::spawn_blocking(move || {
                        let mut connection: AsyncConnectionWrapper<AsyncPgConnection> =
                            opened.connection.into();
                        steps::check(&mut connection, &POSTGRES, POSTGRES_TABLES)
                    })
                    .await
                }
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
        self.connections.run(async { Ok(work.await) }).await?
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
                    let opening = pool.server.connect().await;
                    let opened = opening.map_err(|error| unavailable(&error))?;
                    blocking(move || migrate_postgres(opened.connection, target, run)).await
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
        self.connections.run(async { Ok(work.await) }).await?
    }
}

fn unavailable(error: &diesel::ConnectionError) -> PersistenceError {
    PersistenceError::Unavailable(error.to_string())
}

/// Runs migrations, which block their thread, on a thread of the blocking pool.
async fn blocking(
    work: impl FnOnce() -> Result<MigrationPlan, MigrateError> + Send + 'static,
) -> Result<MigrationPlan, MigrateError> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(MigrateError::Failed(error.to_string())))
}

/// Whether the migrations of a run are committed or rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Run {
    Kept,
    RolledBack,
}

/// How a transaction of migrations ends early.
enum Ended {
    Failed(MigrateError),
    RolledBack(MigrationPlan),
}

impl From<diesel::result::Error> for Ended {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}

fn migrate_postgres(
    connection: AsyncPgConnection,
    target: MigrationTarget,
    run: Run,
) -> Result<MigrationPlan, MigrateError> {
    let mut connection: AsyncConnectionWrapper<AsyncPgConnection> = connection.into();
    if target == MigrationTarget::Newest
        && steps::check(&mut connection, &POSTGRES, POSTGRES_TABLES).is_ok()
    {
        return Ok(MigrationPlan::default());
    }
    let done = connection.transaction(|connection| {
        connection.batch_execute(LOCK)?;
        go(connection, &POSTGRES, target, run, POSTGRES_COLUMNS)
    });
    outcome(done)
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

fn outcome(done: Result<MigrationPlan, Ended>) -> Result<MigrationPlan, MigrateError> {
    match done {
        Ok(plan) | Err(Ended::RolledBack(plan)) => Ok(plan),
        Err(Ended::Failed(error)) => Err(error),
    }
}

/// Migrates to a target within a transaction. `columns` is the statement that lists all columns.
fn go<C>(
    connection: &mut C,
    migrations: &EmbeddedMigrations,
    target: MigrationTarget,
    run: Run,
    columns: &'static str,
) -> Result<MigrationPlan, Ended>
where
    C: MigrationHarness<C::Backend> + Connection,
    SqlQuery: for<'q> LoadQuery<'q, C, TableColumn> + for<'q> LoadQuery<'q, C, CountedRows>,
{
    let steps = steps::to(connection, migrations, target).map_err(Ended::Failed)?;
    let has_undone = steps.iter().any(MigrationStep::is_undone);
    // the removed tables and columns are known only afterwards, their contents only before
    let removed = if run == Run::RolledBack && has_undone {
        removed_data::removed_by(connection, columns, |connection| {
            steps::take(connection, migrations, &steps)
        })
        .map_err(Ended::Failed)?
    } else {
        steps::take(connection, migrations, &steps).map_err(Ended::Failed)?;
        Vec::new()
    };
    let plan = MigrationPlan { steps, removed };
    match run {
        Run::Kept => Ok(plan),
        Run::RolledBack => Err(Ended::RolledBack(plan)),
    }
}
