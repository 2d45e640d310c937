//! The statements that save marks, any number at once.

use chrono::{DateTime, Utc};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::sql_types::{Array, Nullable, Text};
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{PrismId, ResultId};

use crate::connections::{ConnectionRef, Transaction};
use crate::queries::events::add_event;
use crate::queries::marks::row::{CHANGES_MARK, MarkRow, save_mark};
use crate::schema::sql_types::{Id, Moment};

/// Saves marks, and returns how many are new or change the saved ones ([`CHANGES_MARK`]). The others
/// leave the saved marks as they are. If anything changes, an event of the import is saved too.
///
/// No two marks may be of one result and question.
pub(crate) async fn insert(
    tx: &mut Transaction,
    prism: PrismId,
    rows: Vec<MarkRow>,
    stamp: EventStamp,
) -> QueryResult<usize> {
    let changed = match tx.by_database() {
        ConnectionRef::Postgres(mut connection) => {
            let insert = InsertMarks::of(prism, rows);
            diesel_async::RunQueryDsl::execute(insert, &mut connection).await?
        }
        ConnectionRef::Sqlite(connection) => {
            let insert = |connection: &mut SqliteConnection| {
                let saved = rows
                    .into_iter()
                    .map(|row| save_mark(row).execute(connection));
                saved.sum()
            };
            connection.spawn_blocking(insert).await?
        }
    };
    if changed > 0 {
        add_event(tx, imported(prism, changed, stamp)).await?;
    }
    Ok(changed)
}

/// The event of an import that changed this many marks.
fn imported(prism: PrismId, changed: usize, stamp: EventStamp) -> Event {
    let number = u64::try_from(changed).unwrap_or(u64::MAX);
    let stamp = stamp.noted(EventDetail::counted(number, "mark"));
    stamp.event(EventAction::MarksImported, EventTarget::Prism(prism))
}

/// An insert of many marks of one prism. It binds an array for each column, so that one text serves
/// any number of rows.
#[derive(QueryId)]
struct InsertMarks {
    prism: PrismId,
    results: Vec<ResultId>,
    questions: Vec<String>,
    outcomes: Vec<String>,
    marked_by: Vec<Option<String>>,
    marked_at: Vec<DateTime<Utc>>,
    sources: Vec<Option<String>>,
    notes: Vec<Option<String>>,
}

impl InsertMarks {
    fn of(prism: PrismId, rows: Vec<MarkRow>) -> Self {
        let mut columns = Self {
            prism,
            results: Vec::with_capacity(rows.len()),
            questions: Vec::with_capacity(rows.len()),
            outcomes: Vec::with_capacity(rows.len()),
            marked_by: Vec::with_capacity(rows.len()),
            marked_at: Vec::with_capacity(rows.len()),
            sources: Vec::with_capacity(rows.len()),
            notes: Vec::with_capacity(rows.len()),
        };
        for row in rows {
            columns.results.push(row.result_id);
            columns.questions.push(row.question);
            columns.outcomes.push(row.outcome);
            columns.marked_by.push(row.marked_by);
            columns.marked_at.push(row.marked_at);
            columns.sources.push(row.source);
            columns.notes.push(row.note);
        }
        columns
    }
}

impl QueryFragment<Pg> for InsertMarks {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, Pg>) -> QueryResult<()> {
        out.push_sql(
            "INSERT INTO marks (prism_id, result_id, question, outcome, marked_by, marked_at, \
             source, note) SELECT ",
        );
        out.push_bind_param::<Id, _>(&self.prism)?;
        out.push_sql(", * FROM unnest(");
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
        out.push_sql(
            ") ON CONFLICT (result_id, question) DO UPDATE SET outcome = excluded.outcome, \
             marked_by = excluded.marked_by, marked_at = excluded.marked_at, \
             source = excluded.source, note = excluded.note WHERE ",
        );
        out.push_sql(CHANGES_MARK);
        Ok(())
    }
}
