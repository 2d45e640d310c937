//! Rows of the two tables of marks, as they are inserted and read.

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::prelude::*;
use diesel::query_builder::AstPass;
use refract_domain::ids::{PersonId, PrismId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::result::mark::{Annotator, Mark, MarkNote, MarkSource, Marker};

use crate::error::PersistenceError;
use crate::schema::{marks, other_marks};

/// The columns of a mark, and its key beside the mark that counts.
pub(crate) struct MarkRow {
    pub(crate) result_id: ResultId,
    pub(crate) question: String,
    pub(crate) marker: String,
    pub(crate) prism_id: PrismId,
    pub(crate) outcome: String,
    pub(crate) marked_by: Option<String>,
    pub(crate) marked_at: DateTime<Utc>,
    pub(crate) source: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) person_id: Option<PersonId>,
    pub(crate) marked_as: Option<String>,
}

/// What a mark that settles a disagreement is marked as.
const ADJUDICATOR: &str = "adjudicator";

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
    person_id: Option<PersonId>,
    marked_as: Option<String>,
}

/// The columns of a mark beside the one that counts, to be read as [`SavedMarkColumns`].
#[diesel::dsl::auto_type(no_type_alias)]
pub(crate) fn other_mark() -> _ {
    (
        other_marks::result_id,
        other_marks::question,
        other_marks::outcome,
        other_marks::marked_by,
        other_marks::marked_at,
        other_marks::source,
        other_marks::note,
        other_marks::person_id,
        other_marks::marked_as,
    )
}

/// The key of a mark among the marks of one question of one result. A name never begins with a
/// space.
pub(crate) fn marker(mark: &Mark) -> String {
    let by = &mark.marked_by;
    let person = by.person.map(|person| person.to_string());
    let name = || by.name.as_ref().map(ToString::to_string);
    let marker = person.or_else(name).unwrap_or_default();
    if mark.is_adjudicated {
        format!(" {marker}")
    } else {
        marker
    }
}

impl MarkRow {
    pub(crate) fn new(prism: PrismId, mark: &Mark) -> Self {
        Self {
            result_id: mark.result,
            question: mark.question.as_str().to_owned(),
            marker: marker(mark),
            prism_id: prism,
            outcome: mark.outcome.as_str().to_owned(),
            marked_by: mark.marked_by.name.as_ref().map(ToString::to_string),
            marked_at: mark.marked_at,
            source: mark.source.map(|source| source.name().to_owned()),
            note: mark.note.as_ref().map(ToString::to_string),
            person_id: mark.marked_by.person,
            marked_as: mark.is_adjudicated.then(|| ADJUDICATOR.to_owned()),
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
            marked_by: Annotator {
                person: columns.person_id,
                name: columns.marked_by.map(Marker::saved),
            },
            marked_at: columns.marked_at,
            // a source that a later version writes is no random draw to this one
            source: columns.source.as_deref().and_then(MarkSource::named),
            note: columns.note.map(MarkNote::saved),
            is_adjudicated: columns.marked_as.as_deref() == Some(ADJUDICATOR),
        })
    }
}

/// The tables of marks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MarkTable {
    /// The mark that counts.
    Counting,
    /// The marks beside it.
    Beside,
}

/// The beginning of an insert, up to the names of the columns.
pub(super) fn push_columns<DB: Backend>(table: MarkTable, out: &mut AstPass<'_, '_, DB>) {
    out.push_sql(match table {
        MarkTable::Counting => "INSERT INTO marks (prism_id, ",
        MarkTable::Beside => "INSERT INTO other_marks (prism_id, marker, ",
    });
    out.push_sql(
        "result_id, question, outcome, marked_by, marked_at, source, note, person_id, marked_as) ",
    );
}

/// The end of an insert: a mark replaces the saved one of its key.
pub(super) fn push_conflict<DB: Backend>(table: MarkTable, out: &mut AstPass<'_, '_, DB>) {
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
