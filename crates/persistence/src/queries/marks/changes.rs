//! Changes of the marks of one result: some saved, others withdrawn, in one transaction.

use std::collections::BTreeMap;

use diesel::prelude::*;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::Mark;

use crate::connections::{for_no_key_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::marks::row::{MarkRow, save_mark};
use crate::schema::sql_types::Bind;
use crate::schema::{abstentions, marks, results};

impl Database {
    /// Saves marks of one result and withdraws the marks of some of its questions. A mark that does
    /// not [change](Mark::changes) the saved one leaves it as it is. Abstentions from these questions
    /// are withdrawn too.
    ///
    /// One transaction, and one at a time for each result: of two concurrent changes, the later one
    /// sees everything that the earlier one did.
    ///
    /// # Errors
    /// When the result of a mark no longer exists, or the database fails. Nothing was changed then.
    pub async fn change_marks(
        &self,
        prism: PrismId,
        result: ResultId,
        saved: &[Mark],
        taken_back: &[QuestionKey],
    ) -> Result<(), PersistenceError> {
        let mut changes: BTreeMap<String, Option<MarkRow>> = BTreeMap::new();
        for question in taken_back {
            changes.insert(question.to_string(), None);
        }
        for mark in saved {
            changes.insert(mark.question.to_string(), Some(MarkRow::new(prism, mark)));
        }
        self.begin(async move |mut tx| {
            // against concurrent changes of its marks; retries of the result do not wait
            let lock = for_no_key_update(results::table.find(Bind(result)).select(results::id));
            on!(tx, execute(lock))?;
            // in the order of questions, in which others lock the marks of a result too
            for (question, row) in changes {
                let abstention = abstentions::table.find((Bind(result), question.clone()));
                on!(tx, execute(diesel::delete(abstention)))?;
                if let Some(row) = row {
                    on!(tx, execute(save_mark(row)))?;
                } else {
                    let gone = marks::table.find((Bind(result), question));
                    on!(tx, execute(diesel::delete(gone)))?;
                }
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}
