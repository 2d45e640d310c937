//! The statements that insert results, one or many at once.

#[macro_use]
mod row;
#[cfg(feature = "postgres")]
mod postgres;

use diesel::prelude::*;

pub(crate) use self::row::{InsertRow, ResultRow};
use crate::connections::{Connection, ConnectionRef, on_postgres};

/// Inserts rows in their order, in one transaction. Returns for each row whether it is in the
/// database now: `false` if another row excludes it, perhaps a row of this group.
///
/// # Errors
/// When the database fails: then none of the rows was inserted, unless only the answer was lost.
pub(crate) async fn insert(
    rows: Vec<ResultRow>,
    mut connection: Connection,
) -> QueryResult<Vec<bool>> {
    match connection.by_database() {
        ConnectionRef::Postgres(connection) => {
            on_postgres!(connection, postgres::insert(rows, connection).await)
        }
        ConnectionRef::Sqlite(connection) => {
            let insert = |connection: &mut SqliteConnection| insert_on_sqlite(rows, connection);
            connection.spawn_blocking(insert).await
        }
    }
}

fn insert_on_sqlite(
    rows: Vec<ResultRow>,
    connection: &mut SqliteConnection,
) -> QueryResult<Vec<bool>> {
    let is_alone = rows.len() == 1;
    let one_by_one = |connection: &mut SqliteConnection| {
        let inserted = rows
            .into_iter()
            .map(|row| Ok(RunQueryDsl::execute(InsertRow(row), connection)? == 1));
        inserted.collect()
    };
    if is_alone {
        one_by_one(connection)
    } else {
        connection.immediate_transaction(one_by_one)
    }
}
