//! Changes of the marks of one result: some saved, others withdrawn, in one transaction.

use std::collections::BTreeMap;

use diesel::prelude::*;
use diesel::sql_query;
use diesel_async::RunQueryDsl;
use refract_domain::ids::{PrismId, ResultId};
use refract_domain::key::QuestionKey;
use refract_domain::result::mark::Mark;

use crate::connections::{ExclusiveConnection, in_transaction, run};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::marks::row::{MarkRow, saving};
use crate::schema::marks;
use crate::schema::sql_types::{Bind, Id};

/// Locks a result against concurrent changes of its marks. Retries of the result do not wait for
/// it.
const LOCK_ON_POSTGRES: &str = "SELECT id FROM results WHERE id = $1 FOR NO KEY UPDATE";
/// Locks nothing: a writing transaction of SQLite already holds the only lock.
const LOCK_ON_SQLITE: &str = "SELECT id FROM results WHERE id = $1";

impl Database {
    /// Saves marks of one result and withdraws the marks of some of its questions. A mark that does
    /// not [change](Mark::changes) the saved one leaves it as it is.
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
        self.write(async move |mut connection| {
            let lock = match &connection {
                ExclusiveConnection::Postgres(_) => LOCK_ON_POSTGRES,
                ExclusiveConnection::Sqlite(_) => LOCK_ON_SQLITE,
            };
            Ok(in_transaction!(connection, |c| {
                let locking = sql_query(lock).bind::<Id, _>(Bind(result));
                locking.execute(c).await?;
                // in the order of questions, in which others lock the marks of a result too
                for (question, row) in changes {
                    let Some(row) = row else {
                        let gone = marks::table.find((Bind(result), question));
                        run!(c, diesel::delete(gone));
                        continue;
                    };
                    run!(c, saving!(row));
                }
                QueryResult::Ok(())
            })?)
        })
        .await
    }
}
