//! Saving a result: the one place where calls race, and where the unique constraints decide.

use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::result::SavedResult;
use refract_traces::StatementName;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::insert::{self, InsertRow, ResultRow};
use crate::queries::results::{NewResult, ResultColumns};
use crate::schema::results;
use crate::schema::sql_types::Bind;

const SAVING: StatementName = StatementName {
    operation: "INSERT",
    summary: "INSERT results",
};

/// The outcome of saving a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveOutcome {
    /// The result is saved.
    Saved,
    /// Another call was first, with the same idempotency key or with a retry of the same result.
    /// Nothing was saved; this is the result that won.
    Lost(SavedResult),
}

#[boxed]
impl Database {
    /// Saves a result, unless another call was first. One statement, by group commit; for a retry
    /// with a key one transaction. A call that loses makes two or three more queries to read the
    /// winner.
    ///
    /// Saving a result again is safe after an error that left open whether it was saved. A retry
    /// whose original was deleted meanwhile is saved without its link.
    ///
    /// # Errors
    /// When the database fails: then the result is saved whole or not at all.
    pub async fn save_result(&self, new: &NewResult) -> Result<SaveOutcome, PersistenceError> {
        self.named(&SAVING, self.save_linked_or_not(new)).await
    }

    /// Saves a result. A retry whose original was purged meanwhile is saved without its link.
    async fn save_linked_or_not(&self, new: &NewResult) -> Result<SaveOutcome, PersistenceError> {
        match (self.save_linked(new).await, new.retry_of) {
            (Err(gone @ PersistenceError::ReferenceGone(_)), Some(original)) => {
                if self.has_result(original).await? {
                    return Err(gone);
                }
                let unlinked = NewResult {
                    retry_of: None,
                    ..new.clone()
                };
                // boxed, since this path is rare: unboxed, it would enlarge the future of every
                // save
                Box::pin(self.save_linked(&unlinked)).await
            }
            (saved, _) => saved,
        }
    }

    /// Saves a result with its link to the failed result that it retries.
    async fn save_linked(&self, new: &NewResult) -> Result<SaveOutcome, PersistenceError> {
        let is_saved = match new.moves_key_from() {
            Some(failed) => Box::pin(self.insert_with_key_of(failed, new.try_into()?)).await?,
            None => match self.insert_in_group(new.try_into()?).await {
                Some(fate) => fate?,
                None => Box::pin(self.insert_alone(new.try_into()?)).await?,
            },
        };
        if is_saved {
            Ok(SaveOutcome::Saved)
        } else {
            self.find_winner(Race::of(new)).await
        }
    }

    /// Takes the idempotency key from the failed result and inserts its retry with the key, or does
    /// neither.
    async fn insert_with_key_of(
        &self,
        failed: ResultId,
        retry: ResultRow,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let update = diesel::update(results::table.find(Bind(failed)))
                .set(results::idempotency_key.eq(None::<String>));
            on!(tx, execute(update))?;
            if on!(tx, execute(InsertRow(retry)))? == 0 {
                return Ok(false);
            }
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Inserts a row by group commit. `None` where rows are not grouped and after the group failed:
    /// insert the row alone then.
    async fn insert_in_group(&self, row: ResultRow) -> Option<Result<bool, PersistenceError>> {
        let commit = self.group_commit.as_ref()?;
        self.connections
            .write_in_group(commit, row, insert::insert)
            .await
    }

    async fn insert_alone(&self, row: ResultRow) -> Result<bool, PersistenceError> {
        self.write(async move |connection| {
            let inserted = insert::insert(vec![row], connection.into()).await?;
            Ok(inserted == [true])
        })
        .await
    }

    async fn has_result(&self, id: ResultId) -> Result<bool, PersistenceError> {
        let query = results::table.find(Bind(id)).select(results::id);
        let found: Option<ResultId> = self.find(query).await?;
        Ok(found.is_some())
    }

    /// Finds the winner of the race: an earlier attempt to save this very result, another retry, or
    /// another holder of the idempotency key.
    async fn find_winner(&self, race: Race) -> Result<SaveOutcome, PersistenceError> {
        self.read(async move |mut connection| {
            let query = results::table.find(Bind(race.id)).select(results::id);
            let ours: Option<ResultId> = on!(connection, get_result(query)).optional()?;
            if ours.is_some() {
                return Ok(SaveOutcome::Saved);
            }
            let mut winner: Option<ResultColumns> = None;
            if let Some(failed) = race.retry_of {
                let query = results::table.filter(results::retry_of.eq(Some(failed)));
                let found = on!(connection, get_result(query) as ResultColumns);
                winner = found.optional()?;
            }
            if winner.is_none() {
                let query = results::table
                    .filter(results::account_id.eq(Bind(race.account)))
                    .filter(results::idempotency_key.eq(race.idempotency_key));
                let found = on!(connection, get_result(query) as ResultColumns);
                winner = found.optional()?;
            }
            // a key that is moving right now is held by no result for a moment
            let gone =
                || PersistenceError::Failed("the result saved first is not found".to_owned());
            Ok(SaveOutcome::Lost(winner.ok_or_else(gone)?.try_into()?))
        })
        .await
    }
}

impl NewResult {
    /// The failed result whose idempotency key moves to this one.
    fn moves_key_from(&self) -> Option<ResultId> {
        self.retry_of
            .filter(|_| self.result.idempotency_key.is_some())
    }
}

/// The unique values on which two saves may conflict.
struct Race {
    id: ResultId,
    account: AccountId,
    retry_of: Option<ResultId>,
    idempotency_key: Option<String>,
}

impl Race {
    fn of(new: &NewResult) -> Self {
        let key = new.result.idempotency_key.as_ref();
        Self {
            id: new.result.id,
            account: new.account,
            retry_of: new.retry_of,
            idempotency_key: key.map(|key| key.as_str().to_owned()),
        }
    }
}
