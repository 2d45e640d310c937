//! Finding one result for a command, which has an account instead of an API key, and what other
//! queries say about some results.

use refract_boxed_futures::boxed;
use std::collections::BTreeSet;

use diesel::prelude::*;
use refract_domain::ids::{AccountId, PersonId, ResultId};
use refract_domain::result::SavedResult;
use refract_domain::submission::IdempotencyKey;
use refract_traces::StatementName;

use crate::connections::{find_as, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::prisms::row::Prism;
use crate::queries::results::{Provenance, ResultActorRow, ResultColumns, ResultOrigin};
use crate::schema::sql_types::Bind;
use crate::schema::{prisms, results};

/// A result with the prism whose lens shapes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundResult {
    /// The result.
    pub result: SavedResult,
    /// Its prism, archived or not.
    pub prism: Prism,
}

impl TryFrom<(ResultColumns, Prism)> for FoundResult {
    type Error = PersistenceError;

    fn try_from((result, prism): (ResultColumns, Prism)) -> Result<Self, PersistenceError> {
        Ok(Self {
            result: result.try_into()?,
            prism,
        })
    }
}

const OF_RESULTS: StatementName = StatementName {
    operation: "SELECT",
    summary: "SELECT results",
};

#[boxed]
impl Database {
    /// Whether a person made any result.
    pub async fn has_results_of(&self, person: PersonId) -> Result<bool, PersistenceError> {
        let query = results::table
            .filter(results::made_by.eq(Some(person)))
            .select(results::id);
        let found: Option<ResultId> = self.find(query.limit(1)).await?;
        Ok(found.is_some())
    }

    /// A result of the account.
    pub async fn find_result(
        &self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<FoundResult>, PersistenceError> {
        let query = results::table
            .inner_join(prisms::table.on(prisms::id.eq(results::prism_id)))
            .filter(results::id.eq(Bind(result)))
            .filter(results::account_id.eq(Bind(account)));
        find_as!(self, query, (ResultColumns, Prism)).await
    }

    /// The result that holds an idempotency key in the account.
    pub async fn find_result_by_key(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
    ) -> Result<Option<SavedResult>, PersistenceError> {
        let key = key.as_str().to_owned();
        let query = results::table
            .filter(results::account_id.eq(Bind(account)))
            .filter(results::idempotency_key.eq(Some(key)));
        let reading = find_as!(self, query, ResultColumns);
        self.named(&OF_RESULTS, reading).await
    }

    /// The retry of this result; `None` when there is none. API reads do not query it.
    pub async fn find_retry(&self, result: ResultId) -> Result<Option<ResultId>, PersistenceError> {
        let query = results::table
            .filter(results::retry_of.eq(Some(result)))
            .select(results::id);
        self.named(&OF_RESULTS, self.find(query)).await
    }

    /// The failed result that a result of the account retried; `None` when the result is no retry.
    pub async fn find_retry_of(
        &self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<ResultId>, PersistenceError> {
        let query = results::table
            .filter(results::id.eq(Bind(result)))
            .filter(results::account_id.eq(Bind(account)))
            .select(results::retry_of);
        let found: Option<Option<ResultId>> = self.find(query).await?;
        Ok(found.flatten())
    }

    /// Where the answers of a result of the account came from; `None` when the account has no such
    /// result.
    pub async fn find_provenance(
        &self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<Provenance>, PersistenceError> {
        let query = results::table
            .filter(results::id.eq(Bind(result)))
            .filter(results::account_id.eq(Bind(account)));
        find_as!(self, query, Provenance).await
    }

    /// Finds who made a result of the account; `None` when the account has no such result.
    pub async fn find_result_actor(
        &self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<ResultActorRow>, PersistenceError> {
        let query = results::table
            .filter(results::id.eq(Bind(result)))
            .filter(results::account_id.eq(Bind(account)))
            .select((results::api_key_id, results::made_by));
        self.find(query).await
    }

    /// The origins of these results of the account, in no order. A few thousand results at most.
    pub async fn list_origins(
        &self,
        account: AccountId,
        results: Vec<ResultId>,
    ) -> Result<Vec<ResultOrigin>, PersistenceError> {
        let ids: Vec<_> = results.into_iter().map(Bind).collect();
        let query = results::table
            .filter(results::account_id.eq(Bind(account)))
            .filter(results::id.eq_any(ids));
        load_as!(self, query, ResultOrigin).await
    }
}

/// Number of ids in one query.
const IDS: usize = 1_000;

#[boxed]
impl Database {
    /// The names of the models that answered these results of the account, as reported by their
    /// servers, with `None` if a server reported none.
    pub async fn list_model_names(
        &self,
        account: AccountId,
        ids: &[ResultId],
    ) -> Result<BTreeSet<Option<String>>, PersistenceError> {
        let mut names = BTreeSet::new();
        for ids in ids.chunks(IDS) {
            let ids: Vec<_> = ids.iter().copied().map(Bind).collect();
            let found: Vec<Option<String>> = self
                .read(async move |mut connection| {
                    let query = results::table
                        .filter(results::account_id.eq(Bind(account)))
                        .filter(results::id.eq_any(ids))
                        .select(results::model_name)
                        .distinct();
                    Ok(on!(connection, load(query))?)
                })
                .await?;
            names.extend(found);
        }
        Ok(names)
    }
}
