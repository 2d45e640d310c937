//! The texts of retests with their new answers.

use diesel::dsl::exists;
use diesel::prelude::*;
use refract_domain::ids::{ResultId, RetestId};

use super::lease::RetestLease;
use crate::connections::{load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::Bind;
use crate::schema::{retest_answers, retests};

/// A text of a retest.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = retest_answers)]
pub struct RetestTextRow {
    /// The stored result.
    #[diesel(column_name = result_id)]
    pub result: ResultId,
    /// The new answers, as JSON; `None` until they are there.
    pub answers: Option<String>,
    /// Why the model gave no answers.
    pub failure: Option<String>,
}

impl Database {
    /// Up to `limit` texts of a retest after a result, in the order of their results.
    pub async fn list_retest_texts(
        &self,
        retest: RetestId,
        after: ResultId,
        limit: u32,
    ) -> Result<Vec<RetestTextRow>, PersistenceError> {
        let query = retest_answers::table
            .filter(retest_answers::retest_id.eq(Bind(retest)))
            .filter(retest_answers::result_id.gt(Bind(after)))
            .order(retest_answers::result_id)
            .limit(i64::from(limit));
        load_as!(self, query, RetestTextRow).await
    }

    /// Saves the new answers to a text, as JSON, or why there are none. Returns `false`, with
    /// nothing saved, when the lease was lost, the result was deleted, or its answers are there.
    pub async fn save_retest_answer(
        &self,
        lease: RetestLease,
        result: ResultId,
        answer: Result<String, String>,
    ) -> Result<bool, PersistenceError> {
        let (answers, failure) = match answer {
            Ok(answers) => (Some(answers), None),
            Err(failure) => (None, Some(failure)),
        };
        self.write(async move |mut connection| {
            let held = retests::table
                .filter(retests::id.eq(Bind(lease.retest)))
                .filter(retests::fence.eq(lease.fence))
                .filter(retests::lease_holder.eq(Some(lease.node)))
                .select(retests::id);
            let text = retest_answers::table
                .find((Bind(lease.retest), Bind(result)))
                .filter(retest_answers::answers.is_null())
                .filter(exists(held));
            let save = diesel::update(text).set((
                retest_answers::answers.eq(answers),
                retest_answers::failure.eq(failure),
            ));
            Ok(on!(connection, execute(save))? == 1)
        })
        .await
    }
}
