//! Questions of results that a person could not decide, at most one row for each.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::{Abstention, MarkNote, Marker};

use crate::connections::load_as;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::abstentions;
use crate::schema::sql_types::Bind;

#[derive(Queryable, Selectable)]
#[diesel(table_name = abstentions)]
struct SavedAbstentionColumns {
    result_id: ResultId,
    question: String,
    abstained_by: Option<String>,
    abstained_at: DateTime<Utc>,
    note: Option<String>,
}

#[boxed]
impl Database {
    /// Saves that a person could not decide a question of a prism's result. An earlier abstention
    /// is replaced, and a mark stays.
    ///
    /// # Errors
    /// When the result no longer exists, or the database fails.
    pub async fn save_abstention(
        &self,
        prism: PrismId,
        abstention: Abstention,
    ) -> Result<(), PersistenceError> {
        let row = (
            abstentions::result_id.eq(Bind(abstention.result)),
            abstentions::question.eq(abstention.question.to_string()),
            abstentions::prism_id.eq(Bind(prism)),
            abstentions::abstained_by.eq(abstention.abstained_by.map(|name| name.to_string())),
            abstentions::abstained_at.eq(Bind(abstention.abstained_at)),
            abstentions::note.eq(abstention.note.map(|note| note.to_string())),
        );
        let insert = diesel::insert_into(abstentions::table)
            .values(row)
            .on_conflict((abstentions::result_id, abstentions::question))
            .do_update()
            .set((
                abstentions::abstained_by.eq(excluded(abstentions::abstained_by)),
                abstentions::abstained_at.eq(excluded(abstentions::abstained_at)),
                abstentions::note.eq(excluded(abstentions::note)),
            ));
        self.execute(insert).await?;
        Ok(())
    }

    /// Withdraws an abstention, if there is one.
    pub async fn withdraw_abstention(
        &self,
        result: ResultId,
        question: &QuestionKey,
    ) -> Result<(), PersistenceError> {
        let gone = abstentions::table.find((Bind(result), question.to_string()));
        self.execute(diesel::delete(gone)).await?;
        Ok(())
    }

    /// The questions of several results that people could not decide, in no particular order. A few
    /// thousand results at most.
    pub async fn list_abstentions_of(
        &self,
        results: Vec<ResultId>,
    ) -> Result<Vec<Abstention>, PersistenceError> {
        let results: Vec<_> = results.into_iter().map(Bind).collect();
        let query = abstentions::table.filter(abstentions::result_id.eq_any(results));
        load_as!(self, query, SavedAbstentionColumns).await
    }
}

impl TryFrom<SavedAbstentionColumns> for Abstention {
    type Error = PersistenceError;

    fn try_from(columns: SavedAbstentionColumns) -> Result<Self, PersistenceError> {
        let column = "abstentions.question";
        let question = QuestionKey::parse(&columns.question);
        Ok(Self {
            result: columns.result_id,
            question: question.map_err(|_| PersistenceError::Unreadable { column })?,
            abstained_by: columns.abstained_by.map(Marker::saved),
            abstained_at: columns.abstained_at,
            note: columns.note.map(MarkNote::saved),
        })
    }
}
