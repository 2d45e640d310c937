//! The statements that save many marks at once.

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, Nullable, Text};
use diesel::sqlite::Sqlite;
use refract_domain::ids::{PersonId, PrismId, ResultId};

use crate::connections::{ConnectionRef, Transaction};
use crate::queries::marks::row::MarkRow;
use crate::schema::sql_types::{Id, Moment};

/// The tables of marks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkTable {
    /// The mark that counts.
    Counting,
    /// The marks beside it.
    Beside,
}

/// Saves marks of one prism in a table, each over the saved one of its key.
pub(crate) async fn save_rows(
    tx: &mut Transaction,
    table: MarkTable,
    prism: PrismId,
    rows: Vec<MarkRow>,
) -> QueryResult<()> {
    if rows.is_empty() {
        return Ok(());
    }
    match tx.by_database() {
        ConnectionRef::Postgres(mut connection) => {
            let insert = InsertMarks::of(table, prism, rows);
            diesel_async::RunQueryDsl::execute(insert, &mut connection).await?;
        }
        ConnectionRef::Sqlite(connection) => {
            let insert = move |connection: &mut SqliteConnection| {
                for row in rows {
                    InsertMark { table, row }.execute(connection)?;
                }
                Ok(())
            };
            connection.spawn_blocking(insert).await?;
        }
    }
    Ok(())
}

/// An insert of many marks of one prism. It binds an array for each column, so that one text serves
/// any number of rows.
struct InsertMarks {
    table: MarkTable,
    prism: PrismId,
    results: Vec<ResultId>,
    questions: Vec<String>,
    markers: Vec<String>,
    outcomes: Vec<String>,
    marked_by: Vec<Option<String>>,
    marked_at: Vec<DateTime<Utc>>,
    sources: Vec<Option<String>>,
    notes: Vec<Option<String>>,
    people: Vec<Option<PersonId>>,
    marked_as: Vec<Option<String>>,
}

impl InsertMarks {
    fn of(table: MarkTable, prism: PrismId, rows: Vec<MarkRow>) -> Self {
        let mut columns = Self {
            table,
            prism,
            results: Vec::with_capacity(rows.len()),
            questions: Vec::with_capacity(rows.len()),
            markers: Vec::with_capacity(rows.len()),
            outcomes: Vec::with_capacity(rows.len()),
            marked_by: Vec::with_capacity(rows.len()),
            marked_at: Vec::with_capacity(rows.len()),
            sources: Vec::with_capacity(rows.len()),
            notes: Vec::with_capacity(rows.len()),
            people: Vec::with_capacity(rows.len()),
            marked_as: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            columns.results.push(row.result_id);
            columns.questions.push(row.question);
            columns.markers.push(row.marker);
            columns.outcomes.push(row.outcome);
            columns.marked_by.push(row.marked_by);
            columns.marked_at.push(row.marked_at);
            columns.sources.push(row.source);
            columns.notes.push(row.note);
            columns.people.push(row.person_id);
            columns.marked_as.push(row.marked_as);
        }
        columns
    }
}

// the text depends on the table
impl QueryId for InsertMarks {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl QueryFragment<Pg> for InsertMarks {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        push_columns(self.table, &mut out);
        out.push_sql("SELECT ");
        out.push_bind_param::<Id, _>(&self.prism)?;
        out.push_sql(", * FROM unnest(");
        if self.table == MarkTable::Beside {
            out.push_bind_param::<Array<Text>, _>(&self.markers)?;
            out.push_sql(", ");
        }
        out.push_bind_param::<Array<Id>, _>(&self.results)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.questions)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Text>, _>(&self.outcomes)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Text>>, _>(&self.marked_by)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Moment>, _>(&self.marked_at)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Text>>, _>(&self.sources)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Text>>, _>(&self.notes)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Id>>, _>(&self.people)?;
        out.push_sql(", ");
        out.push_bind_param::<Array<Nullable<Text>>, _>(&self.marked_as)?;
        out.push_sql(") ");
        push_conflict(self.table, &mut out);
        Ok(())
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

/// The beginning of an insert, up to the names of the columns.
fn push_columns<DB: Backend>(table: MarkTable, out: &mut AstPass<'_, '_, DB>) {
    out.push_sql(match table {
        MarkTable::Counting => "INSERT INTO marks (prism_id, ",
        MarkTable::Beside => "INSERT INTO other_marks (prism_id, marker, ",
    });
    out.push_sql(
        "result_id, question, outcome, marked_by, marked_at, source, note, person_id, marked_as) ",
    );
}

/// The end of an insert: a mark replaces the saved one of its key.
fn push_conflict<DB: Backend>(table: MarkTable, out: &mut AstPass<'_, '_, DB>) {
    out.push_sql(match table {
        MarkTable::Counting => "ON CONFLICT (result_id, question) ",
        MarkTable::Beside => "ON CONFLICT (result_id, question, marker) ",
    });
    out.push_sql(
        "DO UPDATE SET outcome = excluded.outcome, marked_by = excluded.marked_by, \
         marked_at = excluded.marked_at, source = excluded.source, note = excluded.note, \
         person_id = excluded.person_id, marked_as = excluded.marked_as",
    );
}
