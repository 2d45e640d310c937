//! Saving a result: the one place where calls race, and where the unique constraints decide.

use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, ApiKeyId, ResultId};
use refract_domain::result::SavedResult;

use crate::connection::{Connection, Exclusive};
use crate::database::Database;
use crate::error::PersistenceError;
use crate::provenance::{Provenance, ProvenanceColumns};
use crate::result_columns::ResultColumns;
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
    /// Saves a result, unless another call was first. One statement, for a retry with a key one
    /// transaction; whoever loses needs a query more to read the winner.
    ///
    /// Saving the same result again, after an error that left its fate open, is safe.
    ///
    /// # Errors
    /// When the database fails: then the result is saved whole or not at all.
    pub async fn save_result(&self, new: &NewResult) -> Result<Saving, PersistenceError> {
        let provenance = ProvenanceColumns::from(&new.provenance);
        let columns = (ResultColumns::try_from(new)?, provenance);
        let race = Race::of(new);
        let database = self.clone();
        let Some(retried) = race.moves_key_from else {
            return self
                .run_here(async move {
                    let mut connection = database.writer_of_thread().await?;
                    let insert = diesel::insert_into(results::table).values(columns);
                    let insert = insert.on_conflict_do_nothing();
                    let inserted = on!(connection, |c| insert.execute(c).await)? == 1;
                    race.settle(inserted, connection).await
                })
                .await;
        };
        self.run(async move {
            let mut connection = database.writer().await?;
            let inserted = insert_with_key_of(&mut connection, retried, columns).await?;
            race.settle(inserted, connection.into()).await
        })
        .await
    }
}

/// Takes the idempotency key from the retried result and inserts its retry with it, or does
/// neither.
async fn insert_with_key_of(
    connection: &mut Exclusive,
    retried: ResultId,
    columns: (ResultColumns, ProvenanceColumns),
) -> Result<bool, PersistenceError> {
    let ended = in_transaction!(*connection, |c| {
        diesel::update(results::table.find(Bind(retried)))
            .set(results::idempotency_key.eq(None::<String>))
            .execute(c)
            .await?;
        let insert = diesel::insert_into(results::table).values(columns);
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

    /// What became of the result, after the attempt to insert it.
    async fn settle(
        self,
        is_inserted: bool,
        connection: Connection,
    ) -> Result<Saving, PersistenceError> {
        if is_inserted {
            Ok(Saving::Saved)
        } else {
            self.find_winner(connection).await
        }
    }

    /// Whom we lost to: an earlier attempt of our own to save this very result, another retry, or
    /// another holder of the key.
    async fn find_winner(self, mut connection: Connection) -> Result<Saving, PersistenceError> {
        let query = results::table.find(Bind(self.id)).select(results::id);
        let ours: Option<ResultId> = on!(connection, |c| query.first(c).await.optional())?;
        if ours.is_some() {
            return Ok(Saving::Saved);
        }
        let mut winner: Option<ResultColumns> = None;
        if let Some(retried) = self.retry_of {
            let query = results::table.filter(results::retry_of.eq(Some(retried)));
            winner = on!(connection, |c| query
                .select(ResultColumns::as_select())
                .first(c)
                .await
                .optional())?;
        }
        if winner.is_none() {
            let query = results::table
                .filter(results::account_id.eq(Bind(self.account)))
                .filter(results::idempotency_key.eq(self.idempotency_key));
            winner = on!(connection, |c| query
                .select(ResultColumns::as_select())
                .first(c)
                .await
                .optional())?;
        }
        // only a key that moves on right now leaves nobody: it is with somebody at the next look
        let gone = || PersistenceError::Failed("whoever saved first cannot be found".to_owned());
        Ok(Saving::Lost(winner.ok_or_else(gone)?.try_into()?))
    }
}
