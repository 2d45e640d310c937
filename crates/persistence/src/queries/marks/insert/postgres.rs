//! The statement that saves many marks on PostgreSQL.

use chrono::{DateTime, Utc};
use diesel::QueryResult;
use diesel::pg::Pg;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, Nullable, Text};
use refract_domain::ids::{PersonId, PrismId, ResultId};

use crate::connections::PostgresConnection;
use crate::queries::marks::row::{MarkRow, MarkTable, push_columns, push_conflict};
use crate::schema::sql_types::{Id, Moment};

/// Saves marks of one prism.
pub(super) async fn save_rows(
    connection: &PostgresConnection,
    table: MarkTable,
    rows: Vec<MarkRow>,
) -> QueryResult<()> {
    if let Some(prism) = rows.first().map(|row| row.prism_id) {
        let insert = InsertMarks::of(table, prism, rows);
        let mut statements = &connection.statements;
        let inserting = diesel_async::RunQueryDsl::execute(insert, &mut statements);
        connection.driver.answered(inserting).await?;
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
