//! Rows of the table of marks, as they are inserted and read.

use chrono::{DateTime, Utc};
use diesel::dsl::sql;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{QueryFragment, QueryId};
use diesel::query_dsl::methods::FilterDsl;
use diesel::sql_types::Bool;
use diesel::sqlite::Sqlite;
use diesel::upsert::excluded;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::result::mark::source::MarkSource;
use refract_domain::result::mark::{Mark, MarkNote, Marker};

use crate::error::PersistenceError;
use crate::schema::marks;
use crate::schema::sql_types::Bind;

/// The columns of a mark.
#[derive(Insertable)]
#[diesel(table_name = marks)]
#[diesel(treat_none_as_default_value = false)]
pub(crate) struct MarkRow {
    #[diesel(serialize_as = Bind<ResultId>)]
    pub(crate) result_id: ResultId,
    pub(crate) question: String,
    #[diesel(serialize_as = Bind<PrismId>)]
    pub(crate) prism_id: PrismId,
    pub(crate) outcome: String,
    pub(crate) marked_by: Option<String>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    pub(crate) marked_at: DateTime<Utc>,
    pub(crate) source: Option<String>,
    pub(crate) note: Option<String>,
}

/// Whether a mark changes the saved one, as [`Mark::changes`] says.
pub(crate) const CHANGES_MARK: &str = "(marks.outcome <> excluded.outcome \
    OR (excluded.source = 'import' AND marks.source IS NULL) \
    OR (excluded.source = 'random' AND COALESCE(marks.source, '') NOT IN ('random', 'import')))";

/// The statement that saves a mark. A mark that [does not change](CHANGES_MARK) the saved one
/// leaves it as it is.
pub(crate) fn save_mark(
    row: MarkRow,
) -> impl QueryFragment<Pg> + QueryFragment<Sqlite> + QueryId + RunQueryDsl<SqliteConnection> + Send
{
    let upsert = diesel::insert_into(marks::table)
        .values(row)
        .on_conflict((marks::result_id, marks::question))
        .do_update()
        .set((
            marks::outcome.eq(excluded(marks::outcome)),
            marks::marked_by.eq(excluded(marks::marked_by)),
            marks::marked_at.eq(excluded(marks::marked_at)),
            marks::source.eq(excluded(marks::source)),
            marks::note.eq(excluded(marks::note)),
        ));
    FilterDsl::filter(upsert, sql::<Bool>(CHANGES_MARK))
}

/// The columns of a mark that its readers need.
#[derive(Queryable, Selectable)]
#[diesel(table_name = marks)]
pub(crate) struct SavedMarkColumns {
    pub(crate) result_id: ResultId,
    question: String,
    outcome: String,
    marked_by: Option<String>,
    marked_at: DateTime<Utc>,
    source: Option<String>,
    note: Option<String>,
}

impl MarkRow {
    pub(crate) fn new(prism: PrismId, mark: &Mark) -> Self {
        Self {
            result_id: mark.result,
            question: mark.question.as_str().to_owned(),
            prism_id: prism,
            outcome: mark.outcome.as_str().to_owned(),
            marked_by: mark.marked_by.as_ref().map(ToString::to_string),
            marked_at: mark.marked_at,
            source: mark.source.map(|source| source.name().to_owned()),
            note: mark.note.as_ref().map(ToString::to_string),
        }
    }
}

impl TryFrom<SavedMarkColumns> for Mark {
    type Error = PersistenceError;

    fn try_from(columns: SavedMarkColumns) -> Result<Self, PersistenceError> {
        let unreadable = |column| PersistenceError::Unreadable { column };
        let question = QuestionKey::parse(&columns.question);
        let outcome = OutcomeKey::parse(&columns.outcome);
        Ok(Self {
            result: columns.result_id,
            question: question.map_err(|_| unreadable("marks.question"))?,
            outcome: outcome.map_err(|_| unreadable("marks.outcome"))?,
            marked_by: columns.marked_by.map(Marker::saved),
            marked_at: columns.marked_at,
            // a source that a later version writes is no random draw to this one
            source: columns.source.as_deref().and_then(MarkSource::named),
            note: columns.note.map(MarkNote::saved),
        })
    }
}
