//! Marks: saved all at once, one for each result and question.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::{OutcomeKey, QuestionKey};
use refract_domain::mark::{Mark, Marker};

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::insert_marks;
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
}

impl MarkRow {
    fn new(prism: PrismId, mark: &Mark) -> Self {
        Self {
            result_id: mark.result,
            question: mark.question.as_str().to_owned(),
            prism_id: prism,
            outcome: mark.outcome.as_str().to_owned(),
            marked_by: mark.marked_by.as_ref().map(ToString::to_string),
            marked_at: mark.marked_at,
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
        })
    }
}

impl Database {
    /// Saves marks of a prism's results, all or none, and returns how many are new or name another
    /// outcome than before. A mark that says what is saved already changes nothing.
    ///
    /// No two of the marks may be of one result and question.
    ///
    /// # Errors
    /// When a result is not there any more, or the database fails.
    pub async fn save_marks(
        &self,
        prism: PrismId,
        marks: &[Mark],
    ) -> Result<usize, PersistenceError> {
        let rows: Vec<_> = marks.iter().map(|mark| MarkRow::new(prism, mark)).collect();
        self.write(async move |connection| {
            let saved = insert_marks::insert(prism, rows, connection.into()).await;
            Ok(saved?)
        })
        .await
    }

    /// The marks of one result, in the order of the question keys.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_marks(&self, result: ResultId) -> Result<Vec<Mark>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = marks::table
                .filter(marks::result_id.eq(Bind(result)))
                .order(marks::question);
            let found: Vec<SavedMarkColumns> = on!(
                connection,
                load(query.select(SavedMarkColumns::as_select()))
            )?;
            found.into_iter().map(Mark::try_from).collect()
        })
        .await
    }

    /// The marks of several results, by result and then in the order of the question keys. Some
    /// thousands of results at most.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_marks_of(
        &self,
        results: Vec<ResultId>,
    ) -> Result<Vec<Mark>, PersistenceError> {
        let results: Vec<_> = results.into_iter().map(Bind).collect();
        self.read(async move |mut connection| {
            let query = marks::table
                .filter(marks::result_id.eq_any(results))
                .order((marks::result_id, marks::question));
            let found: Vec<SavedMarkColumns> = on!(
                connection,
                load(query.select(SavedMarkColumns::as_select()))
            )?;
            found.into_iter().map(Mark::try_from).collect()
        })
        .await
    }
}
