//! The migrations that lead from the state of a database to a target.

use std::collections::BTreeSet;

use diesel::migration::{Migration, MigrationSource};
use diesel::query_builder::SqlQuery;
use diesel::query_dsl::methods::LoadQuery;
use diesel::sql_types::Text;
use diesel::{Connection, QueryableByName, RunQueryDsl as _, sql_query};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};

use crate::error::MigrateError;
use crate::migrations::removed_data::RemovedData;

/// The target of a migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MigrationTarget {
    /// The last migration of this binary.
    Newest,
    /// The migration with this number.
    Number(u64),
}

/// The steps to a migration, and what they remove.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MigrationPlan {
    /// The steps, in their order.
    pub steps: Vec<MigrationStep>,
    /// The data that the steps remove; filled in only when planning.
    pub removed: Vec<RemovedData>,
}

/// A migration that is run or undone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MigrationStep {
    /// The migration is run.
    Run {
        /// Number and name, such as `0007_forget_results`.
        name: String,
    },
    /// The migration is undone by its `down.sql`.
    Undo {
        /// Number and name, such as `0007_forget_results`.
        name: String,
    },
}

impl MigrationStep {
    /// Whether the migration is undone.
    pub fn is_undone(&self) -> bool {
        match self {
            Self::Undo { .. } => true,
            Self::Run { .. } => false,
        }
    }

    /// The migration's number and name.
    pub fn name(&self) -> &str {
        match self {
            Self::Run { name } | Self::Undo { name } => name,
        }
    }
}

/// A migration that a database has.
#[derive(QueryableByName)]
pub(super) struct AppliedVersion {
    #[diesel(sql_type = Text)]
    version: String,
}

/// Whether a database has exactly the migrations of this binary. Only reads, so that a standby and a
/// user who may only read can be asked.
pub(super) fn has_all<C>(connection: &mut C, migrations: &EmbeddedMigrations) -> bool
where
    C: Connection,
    SqlQuery: for<'q> LoadQuery<'q, C, AppliedVersion>,
{
    let Ok(known) = known::<C>(migrations) else {
        return false;
    };
    let known = known.iter().map(|known| known.name().version().to_string());
    let known: BTreeSet<String> = known.collect();
    // an error means that the table is missing or cannot be read
    let applied = sql_query("SELECT version FROM __diesel_schema_migrations").load(connection);
    let applied = applied.unwrap_or_default().into_iter();
    known == applied.map(|applied| applied.version).collect()
}

/// The steps from a database's state to a target: later migrations are undone, the latest first,
/// then missing ones are run.
pub(super) fn to<C>(
    connection: &mut C,
    migrations: &EmbeddedMigrations,
    target: MigrationTarget,
) -> Result<Vec<MigrationStep>, MigrateError>
where
    C: MigrationHarness<C::Backend> + Connection,
{
    let known = known::<C>(migrations)?;
    let applied = connection.applied_migrations().map_err(|e| failed(&e))?;
    let is_known = |version: &_| known.iter().any(|known| known.name().version() == *version);
    let newest = known.last().map(|last| number(last.as_ref()));
    let newest = newest.unwrap_or_default();
    // newest first, so the last unknown one is the first that a newer refract ran
    if let Some(unknown) = applied.iter().rev().find(|version| !is_known(version)) {
        return Err(MigrateError::SchemaIsNewer {
            version: unknown.to_string(),
            newest,
        });
    }
    let last = match target {
        MigrationTarget::Newest => newest,
        MigrationTarget::Number(last) => last,
    };
    if !known.iter().any(|known| number(known.as_ref()) == last) {
        return Err(MigrateError::NoSuchMigration {
            number: last,
            newest,
        });
    }
    let is_applied = |known: &dyn Migration<C::Backend>| applied.contains(&known.name().version());
    let undone = known.iter().rev().map(AsRef::as_ref);
    let undone = undone.filter(|known| number(*known) > last && is_applied(*known));
    let undone = undone.map(|known| MigrationStep::Undo {
        name: known.name().to_string(),
    });
    let run = known.iter().map(AsRef::as_ref);
    let run = run.filter(|known| number(*known) <= last && !is_applied(*known));
    let run = run.map(|known| MigrationStep::Run {
        name: known.name().to_string(),
    });
    Ok(undone.chain(run).collect())
}

/// Runs the steps.
pub(super) fn take<C>(
    connection: &mut C,
    migrations: &EmbeddedMigrations,
    steps: &[MigrationStep],
) -> Result<(), MigrateError>
where
    C: MigrationHarness<C::Backend> + Connection,
{
    let known = known::<C>(migrations)?;
    for step in steps {
        let mut known = known.iter().map(AsRef::as_ref);
        let Some(migration) = known.find(|known| known.name().to_string() == step.name()) else {
            continue;
        };
        let taken = match step {
            MigrationStep::Run { .. } => connection.run_migration(migration),
            MigrationStep::Undo { .. } => connection.revert_migration(migration),
        };
        taken.map_err(|error| failed(&error))?;
    }
    Ok(())
}

type Known<C> = Box<dyn Migration<<C as Connection>::Backend>>;

/// The migrations of this binary, by number.
fn known<C: Connection>(migrations: &EmbeddedMigrations) -> Result<Vec<Known<C>>, MigrateError> {
    let known = MigrationSource::<C::Backend>::migrations(migrations);
    let mut known = known.map_err(|error| failed(&error))?;
    known.sort_by_key(|known| number(known.as_ref()));
    Ok(known)
}

/// The number with which the name of a migration begins.
fn number<DB: diesel::backend::Backend>(migration: &dyn Migration<DB>) -> u64 {
    let version = migration.name().version().to_string();
    version.parse().unwrap_or_default()
}

type StepError = Box<dyn std::error::Error + Send + Sync>;

fn failed(error: &StepError) -> MigrateError {
    MigrateError::failed(&error.to_string())
}
