//! The tables and columns that undoing migrations removes, with their numbers of rows or values.

use std::collections::BTreeSet;

use diesel::query_builder::SqlQuery;
use diesel::query_dsl::methods::LoadQuery;
use diesel::result::Error;
use diesel::sql_types::{BigInt, Text};
use diesel::{Connection, QueryResult, QueryableByName, RunQueryDsl as _, sql_query};
use serde::Serialize;

use crate::error::MigrateError;

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
