//! The migrations that lead from the state of a database to a target, and the tables and columns that
//! undoing them removes, with their numbers of rows or values.

use std::collections::BTreeSet;

use diesel::migration::{Migration, MigrationSource};
use diesel::query_builder::SqlQuery;
use diesel::query_dsl::methods::LoadQuery;
use diesel::result::Error;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, QueryResult, QueryableByName, RunQueryDsl as _, sql_query};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness};
use serde::Serialize;

use crate::error::{MigrateError, SchemaError};

/// Lists SQLite's tables.
pub(super) const SQLITE_TABLES: &str = "SELECT name FROM sqlite_master WHERE type = 'table' \
    AND name NOT LIKE 'sqlite_%' ORDER BY name";

/// The table of the migrations that a database has, and the statement that lists them.
const TABLE: &str = "__diesel_schema_migrations";
const APPLIED: &str = "SELECT version AS name FROM __diesel_schema_migrations";
/// How many tables of another program an error names.
const FOREIGN_TABLES: usize = 3;

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

/// A name or version that a database lists.
#[derive(QueryableByName)]
pub(super) struct ListedName {
    #[diesel(sql_type = Text)]
    name: String,
}

/// Compares the migrations that a database has with those of this binary. Only reads, so that a
/// standby and a role that may only read can be asked. `tables` is the statement that lists all
/// tables.
pub(super) fn check<C>(
    connection: &mut C,
    migrations: &EmbeddedMigrations,
    tables: &'static str,
) -> Result<(), SchemaError>
where
    C: Connection,
    SqlQuery: for<'q> LoadQuery<'q, C, ListedName>,
{
    let known = known::<C>(migrations).map_err(|error| SchemaError::Unread(error.to_string()))?;
    let known = known.iter().map(|known| known.name().version().to_string());
    let known: Vec<String> = known.collect();
    let newest = known.last().map_or(0, |last| number_of(last));
    let tables = names(connection, tables)?;
    if tables.is_empty() {
        return Err(SchemaError::Empty { newest });
    }
    let applied = if tables.iter().any(|table| table == TABLE) {
        names(connection, APPLIED)?
    } else {
        Vec::new()
    };
    let has = |version: &String| applied.contains(version);
    if known.iter().all(|version| !has(version)) {
        let is_new = |table: &&String| *table != TABLE;
        let mut others = tables.iter().filter(is_new).map(String::as_str);
        let named: Vec<_> = others.by_ref().take(FOREIGN_TABLES).collect();
        return Err(match named.as_slice() {
            [] => SchemaError::Empty { newest },
            named => SchemaError::Foreign {
                tables: named.join(", "),
                more: others.count(),
            },
        });
    }
    let unknown = applied.iter().filter(|version| !known.contains(version));
    if let Some(at) = unknown.map(|version| number_of(version)).max() {
        return Err(SchemaError::Newer { at, newest });
    }
    let in_order = known.iter().take_while(|version| has(version));
    match in_order.last().map_or(0, |last| number_of(last)) {
        at if at == newest => Ok(()),
        at => Err(SchemaError::Older { at, newest }),
    }
}

fn names<C>(connection: &mut C, statement: &'static str) -> Result<Vec<String>, SchemaError>
where
    C: Connection,
    SqlQuery: for<'q> LoadQuery<'q, C, ListedName>,
{
    let listed: QueryResult<Vec<ListedName>> = sql_query(statement).load(connection);
    let listed = listed.map_err(|error| SchemaError::unread(error.into()))?;
    Ok(listed.into_iter().map(|listed| listed.name).collect())
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
    number_of(&migration.name().version().to_string())
}

fn number_of(version: &str) -> u64 {
    version.parse().unwrap_or_default()
}

type StepError = Box<dyn std::error::Error + Send + Sync>;

fn failed(error: &StepError) -> MigrateError {
    MigrateError::failed(&error.to_string())
}

/// Lists all columns of SQLite's tables.
pub(super) const SQLITE_COLUMNS: &str = "SELECT tables.name AS name, columns.name AS column_name \
    FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns \
    WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite_%'";

/// A table or a column that is removed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct RemovedData {
    /// The table.
    pub table: String,
    /// The column; `None` for the whole table.
    pub column: Option<String>,
    /// How many rows the table has, or how many of them have a value in the column.
    pub rows: u64,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, QueryableByName)]
pub(super) struct TableColumn {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
}

/// A count.
#[derive(QueryableByName)]
pub(super) struct CountedRows {
    #[diesel(sql_type = BigInt)]
    rows: i64,
}

/// Finds what `work` removes from a database, and leaves the database as it was.
pub(super) fn removed_by<C>(
    connection: &mut C,
    columns: &'static str,
    work: impl FnOnce(&mut C) -> Result<(), MigrateError>,
) -> Result<Vec<RemovedData>, MigrateError>
where
    C: Connection,
    SqlQuery: for<'q> LoadQuery<'q, C, TableColumn> + for<'q> LoadQuery<'q, C, CountedRows>,
{
    let before = listed(connection, columns)?;
    let mut after = Err(MigrateError::Failed("nothing was tried".to_owned()));
    let undone: QueryResult<()> = connection.transaction(|connection| {
        after = work(connection).and_then(|()| Ok(listed(connection, columns)?));
        Err(Error::RollbackTransaction)
    });
    let after = after?;
    match undone {
        Ok(()) | Err(Error::RollbackTransaction) => {}
        Err(error) => return Err(error.into()),
    }
    let tables: BTreeSet<&String> = after.iter().map(|column| &column.name).collect();
    let mut removed = BTreeSet::new();
    for TableColumn { name, column_name } in before.difference(&after) {
        let is_whole = !tables.contains(name);
        removed.insert((name, (!is_whole).then_some(column_name)));
    }
    let counted = removed.into_iter().map(|(table, column)| {
        let counted = column.map_or_else(|| "*".to_owned(), |column| quoted(column));
        let count = format!("SELECT COUNT({counted}) AS rows FROM {}", quoted(table));
        let CountedRows { rows } = sql_query(count).get_result(connection)?;
        Ok(RemovedData {
            table: table.clone(),
            column: column.cloned(),
            rows: u64::try_from(rows).unwrap_or_default(),
        })
    });
    counted.collect()
}

fn listed<C>(connection: &mut C, columns: &'static str) -> QueryResult<BTreeSet<TableColumn>>
where
    C: Connection,
    SqlQuery: for<'q> LoadQuery<'q, C, TableColumn>,
{
    let columns: Vec<TableColumn> = sql_query(columns).load(connection)?;
    Ok(columns.into_iter().collect())
}

/// A name, quoted for SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
