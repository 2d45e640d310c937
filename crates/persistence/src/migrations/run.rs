//! One run of migrations, in a transaction on a thread that it blocks.

use diesel::Connection;
use diesel::query_builder::SqlQuery;
use diesel::query_dsl::methods::LoadQuery;
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::error::{MigrateError, PersistenceError};
use crate::migrations::steps::{
    self, CountedRows, MigrationPlan, MigrationStep, MigrationTarget, TableColumn,
};

/// The error of a database that cannot be reached.
pub(super) fn unavailable(error: &diesel::ConnectionError) -> PersistenceError {
    PersistenceError::Unavailable(error.to_string())
}

/// Runs migrations, which block their thread, on a thread of the blocking pool.
pub(super) async fn blocking(
    work: impl FnOnce() -> Result<MigrationPlan, MigrateError> + Send + 'static,
) -> Result<MigrationPlan, MigrateError> {
    let ended = tokio::task::spawn_blocking(work).await;
    ended.unwrap_or_else(|error| Err(MigrateError::Failed(error.to_string())))
}

/// Whether the migrations of a run are committed or rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Run {
    Kept,
    RolledBack,
}

/// How a transaction of migrations ends early.
pub(super) enum MigrationEnd {
    Failed(MigrateError),
    RolledBack(MigrationPlan),
}

impl From<diesel::result::Error> for MigrationEnd {
    fn from(error: diesel::result::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// The plan of a transaction that was committed or rolled back.
pub(super) fn outcome(
    done: Result<MigrationPlan, MigrationEnd>,
) -> Result<MigrationPlan, MigrateError> {
    match done {
        Ok(plan) | Err(MigrationEnd::RolledBack(plan)) => Ok(plan),
        Err(MigrationEnd::Failed(error)) => Err(error),
    }
}

/// Migrates to a target within a transaction. `columns` is the statement that lists all columns.
pub(super) fn go<C>(
    connection: &mut C,
    migrations: &EmbeddedMigrations,
    target: MigrationTarget,
    run: Run,
    columns: &'static str,
) -> Result<MigrationPlan, MigrationEnd>
where
    C: MigrationHarness<C::Backend> + Connection,
    SqlQuery: for<'q> LoadQuery<'q, C, TableColumn> + for<'q> LoadQuery<'q, C, CountedRows>,
{
    let steps = steps::to(connection, migrations, target).map_err(MigrationEnd::Failed)?;
    let has_undone = steps.iter().any(MigrationStep::is_undone);
    // the removed tables and columns are known only afterwards, their contents only before
    let removed = if run == Run::RolledBack && has_undone {
        steps::removed_by(connection, columns, |connection| {
            steps::take(connection, migrations, &steps)
        })
        .map_err(MigrationEnd::Failed)?
    } else {
        steps::take(connection, migrations, &steps).map_err(MigrationEnd::Failed)?;
        Vec::new()
    };
    let plan = MigrationPlan { steps, removed };
    match run {
        Run::Kept => Ok(plan),
        Run::RolledBack => Err(MigrationEnd::RolledBack(plan)),
    }
}
