//! The statements that save many marks at once.

#[cfg(feature = "postgres")]
mod postgres;

use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Nullable, Text};
use diesel::sqlite::Sqlite;

use crate::connections::{ConnectionRef, Transaction, on_postgres};
pub(crate) use crate::queries::marks::row::MarkTable;
use crate::queries::marks::row::{MarkRow, push_columns, push_conflict};
use crate::schema::sql_types::{Id, Moment};

/// Saves marks of one prism in a table, each over the saved one of its key.
pub(crate) async fn save_rows(
    tx: &mut Transaction,
    table: MarkTable,
    rows: Vec<MarkRow>,
) -> QueryResult<()> {
    match tx.by_database() {
        ConnectionRef::Postgres(connection) => {
            on_postgres!(
                connection,
                postgres::save_rows(connection, table, rows).await
            )
        }
        ConnectionRef::Sqlite(connection) => {
            let insert = move |connection: &mut SqliteConnection| {
                for row in rows {
                    InsertMark { table, row }.execute(connection)?;
                }
                Ok(())
            };
            connection.spawn_blocking(insert).await
        }
    }
}

/// An insert of one mark.
struct InsertMark {
    table: MarkTable,
    row: MarkRow,
}

// the text depends on the table
impl QueryId for InsertMark {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl RunQueryDsl<SqliteConnection> for InsertMark {}

impl QueryFragment<Sqlite> for InsertMark {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Sqlite>) -> QueryResult<()> {
        let row = &self.row;
        push_columns(self.table, &mut out);
        out.push_sql("VALUES (");
        out.push_bind_param::<Id, _>(&row.prism_id)?;
        out.push_sql(", ");
        if self.table == MarkTable::Beside {
            out.push_bind_param::<Text, _>(&row.marker)?;
            out.push_sql(", ");
        }
        out.push_bind_param::<Id, _>(&row.result_id)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(&row.question)?;
        out.push_sql(", ");
        out.push_bind_param::<Text, _>(&row.outcome)?;
        out.push_sql(", ");
        out.push_bind_param::<Nullable<Text>, _>(&row.marked_by)?;
        out.push_sql(", ");
        out.push_bind_param::<Moment, _>(&row.marked_at)?;
        out.push_sql(", ");
        out.push_bind_param::<Nullable<Text>, _>(&row.source)?;
        out.push_sql(", ");
        out.push_bind_param::<Nullable<Text>, _>(&row.note)?;
        out.push_sql(", ");
        out.push_bind_param::<Nullable<Id>, _>(&row.person_id)?;
        out.push_sql(", ");
        out.push_bind_param::<Nullable<Text>, _>(&row.marked_as)?;
        out.push_sql(") ");
        push_conflict(self.table, &mut out);
        Ok(())
    }
}
