//! Migrates a PostgreSQL database, by one process at a time.

use diesel::Connection as _;
use diesel::connection::SimpleConnection as _;
use diesel_async::AsyncPgConnection;
use diesel_async::async_connection_wrapper::AsyncConnectionWrapper;
use diesel_migrations::{EmbeddedMigrations, embed_migrations};
use tokio::task::{JoinError, spawn_blocking};

use super::run::{Run, blocking, go, outcome, unavailable};
use super::steps::{self, MigrationPlan, MigrationTarget};
use crate::connections::PostgresPool;
use crate::error::{MigrateError, SchemaError};

const MIGRATIONS: EmbeddedMigrations = embed_migrations!("../../migrations/postgres");

/// An advisory lock: one process migrates at a time; the others wait, up to a minute, and find
/// nothing left to do. The number of the lock is the eight bytes of `"refract "`.
const LOCK: &str = "SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0; \
    SELECT pg_advisory_xact_lock(8243107334417773600)";

/// Lists all columns of PostgreSQL's tables.
const COLUMNS: &str = "SELECT table_name::text AS name, \
    column_name::text AS column_name FROM information_schema.columns \
    JOIN information_schema.tables USING (table_schema, table_name) \
    WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'";

/// Lists the tables that a role finds without naming their schema, also those it may not read.
const TABLES: &str = "SELECT tablename::text AS name FROM pg_catalog.pg_tables \
    WHERE schemaname = ANY (current_schemas(false)) ORDER BY tablename";

/// Checks that the database has exactly the migrations of this binary.
pub(super) async fn check(pool: &PostgresPool) -> Result<Result<(), SchemaError>, JoinError> {
    let opened = match pool.connect().await {
        Ok(opened) => opened,
        Err(error) => return Ok(Err(unavailable(&error).into())),
    };
    let checking = spawn_blocking(move || {
        let mut connection: AsyncConnectionWrapper<AsyncPgConnection> = opened.into();
        steps::check(&mut connection, &MIGRATIONS, TABLES)
    });
    checking.await
}

/// Migrates the database to a target.
pub(super) async fn migrate(
    pool: &PostgresPool,
    target: MigrationTarget,
    run: Run,
) -> Result<MigrationPlan, MigrateError> {
    let opening = pool.connect().await;
    let opened = opening.map_err(|error| unavailable(&error))?;
    blocking(move || migrate_on(opened, target, run)).await
}

fn migrate_on(
    connection: AsyncPgConnection,
    target: MigrationTarget,
    run: Run,
) -> Result<MigrationPlan, MigrateError> {
    let mut connection: AsyncConnectionWrapper<AsyncPgConnection> = connection.into();
    if target == MigrationTarget::Newest
        && steps::check(&mut connection, &MIGRATIONS, TABLES).is_ok()
    {
        return Ok(MigrationPlan::default());
    }
    let done = connection.transaction(|connection| {
        connection.batch_execute(LOCK)?;
        go(connection, &MIGRATIONS, target, run, COLUMNS)
    });
    outcome(done)
}
