//! Saving a result: the one place where calls race, and where the unique constraints decide.

use std::sync::Arc;

use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, ApiKeyId, ResultId};
use refract_domain::result::SavedResult;
use tokio::time::timeout;

use crate::connection::Connection;
use crate::database::{Database, WAIT};
use crate::error::PersistenceError;
use crate::gathering::Turn;
use crate::provenance::Provenance;
use crate::result_columns::ResultColumns;
use crate::result_rows::{self, ResultRow};
use crate::schema::results;
use crate::sql_types::Bind;

/// A result to be saved.
#[derive(Clone, Debug)]
pub struct NewResult {
    /// Whose it is.
    pub account: AccountId,
    /// The key that made it; `None` for a command.
    pub api_key: Option<ApiKeyId>,
    /// The failed result that it retries. If that one holds an idempotency key, `result` must
    /// carry it: it moves here.
    pub retry_of: Option<ResultId>,
    /// The result.
    pub result: SavedResult,
    /// Where its answers came from, or what is known of a call that failed.
    pub provenance: Provenance,
}

/// What became of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Saving {
    /// It is saved.
    Saved,
    /// Another call was first, under the same idempotency key or with a retry of the same result.
    /// Nothing was saved; this is the one that was.
    Lost(SavedResult),
}

impl Database {
    /// Saves a result, unless another call was first. One statement, shared with results that are
    /// saved at the same time; for a retry with a key one transaction. Whoever loses needs two or
    /// three queries more to read the winner.
    ///
    /// Saving the same result again, after an error that left its fate open, is safe.
    ///
    /// # Errors
    /// When the database fails: then the result is saved whole or not at all.
    pub async fn save_result(&self, new: &NewResult) -> Result<Saving, PersistenceError> {
        let race = Race::of(new);
        let is_saved = match race.moves_key_from {
            Some(retried) => self.insert_with_key_of(retried, new.try_into()?).await?,
            None => match self.insert_in_group(new.try_into()?).await {
                Some(fate) => fate?,
                None => self.insert_alone(new.try_into()?).await?,
            },
        };
        if is_saved {
            return Ok(Saving::Saved);
        }
        let database = self.clone();
        let finding = async move { race.find_winner(database.reader_of_thread().await?).await };
        self.run_reading(finding).await
    }

    /// Inserts a row with those that others insert at the same time. `None` where that is not done,
    /// and when they failed together.
    async fn insert_in_group(&self, row: ResultRow) -> Option<Result<bool, PersistenceError>> {
        let (fate, turn) = self.gathering()?.join(row);
        if let Some(turn) = turn {
            // a task, since the caller may go away: others wait for it
            self.spawn_here(self.clone().send_groups(turn));
        }
        fate.await.ok()
    }

    async fn send_groups(self, mut turn: Turn) {
        while let Some(mut group) = turn.next_group() {
            let rows = group.take_rows();
            group.tell(self.insert_rows(rows).await);
        }
    }

    async fn insert_rows(&self, rows: Vec<ResultRow>) -> Result<Vec<bool>, PersistenceError> {
        let mut connection = self.writer_of_thread().await?;
        let Connection::Pipelined(lane) = &connection else {
            return Ok(result_rows::insert(rows, &mut connection).await?);
        };
        let lane = Arc::clone(lane);
        let inserted = timeout(WAIT, result_rows::insert(rows, &mut connection)).await;
        inserted.map_or_else(
            |_| {
                self.abandon_writing(&lane);
                Err(PersistenceError::no_answer())
            },
            |inserted| Ok(inserted?),
        )
    }

    async fn insert_alone(&self, row: ResultRow) -> Result<bool, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.writer().await?.into();
            let inserted = result_rows::insert(vec![row], &mut connection).await?;
            Ok(inserted == [true])
        })
        .await
    }

    /// Takes the idempotency key from the retried result and inserts its retry with it, or does
    /// neither.
    async fn insert_with_key_of(
        &self,
        retried: ResultId,
        row: ResultRow,
    ) -> Result<bool, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.writer().await?;
            let ended = in_transaction!(connection, |c| {
                diesel::update(results::table.find(Bind(retried)))
                    .set(results::idempotency_key.eq(None::<String>))
                    .execute(c)
                    .await?;
                let insert = diesel::insert_into(results::table).values(row.into_values());
                match insert.on_conflict_do_nothing().execute(c).await? {
                    0 => Err(RollbackTransaction),
                    _ => QueryResult::Ok(()),
                }
            });
            match ended {
                Ok(()) => Ok(true),
                Err(RollbackTransaction) => Ok(false),
                Err(error) => Err(error.into()),
            }
        })
        .await
    }
}

/// By what a result can lose.
struct Race {
    id: ResultId,
    account: AccountId,
    retry_of: Option<ResultId>,
    idempotency_key: Option<String>,
    moves_key_from: Option<ResultId>,
}

impl Race {
    fn of(new: &NewResult) -> Self {
        let key = new.result.idempotency_key.as_ref();
        Self {
            id: new.result.id,
            account: new.account,
            retry_of: new.retry_of,
            idempotency_key: key.map(|key| key.as_str().to_owned()),
            moves_key_from: new.retry_of.filter(|_| key.is_some()),
        }
    }

    /// Whom we lost to: an earlier attempt of our own to save this very result, another retry, or
    /// another holder of the key.
    async fn find_winner(self, mut connection: Connection) -> Result<Saving, PersistenceError> {
        let query = results::table.find(Bind(self.id)).select(results::id);
        let ours: Option<ResultId> = on!(connection, get_result(query)).optional()?;
        if ours.is_some() {
            return Ok(Saving::Saved);
        }
        let mut winner: Option<ResultColumns> = None;
        if let Some(retried) = self.retry_of {
            let query = results::table.filter(results::retry_of.eq(Some(retried)));
            winner = on!(
                connection,
                get_result(query.select(ResultColumns::as_select()))
            )
            .optional()?;
        }
        if winner.is_none() {
            let query = results::table
                .filter(results::account_id.eq(Bind(self.account)))
                .filter(results::idempotency_key.eq(self.idempotency_key));
            winner = on!(
                connection,
                get_result(query.select(ResultColumns::as_select()))
            )
            .optional()?;
        }
        // only a key that moves on right now leaves nobody: it is with somebody at the next look
        let gone = || PersistenceError::Failed("whoever saved first cannot be found".to_owned());
        Ok(Saving::Lost(winner.ok_or_else(gone)?.try_into()?))
    }
}
