//! The results of a prism, as commands, exports and file runs list and count them.

mod candidate_range;
mod candidates;
pub(in crate::queries) mod pages;
pub(in crate::queries) mod query;

use refract_boxed_futures::boxed;
use std::collections::HashSet;

use diesel::prelude::*;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::SavedResult;
use refract_domain::submission::IdempotencyKey;

pub use self::candidates::SearchCandidate;
pub use self::pages::{AnswerPages, ResultPages, StoredAnswers};
use self::query::ResultQuery;
pub use self::query::{ResultFilter, ResultOrder};
use crate::connections::{load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::ResultColumns;
use crate::schema::sql_types::Bind;
use crate::schema::{prisms, results};

#[boxed]
impl Database {
    /// Up to `limit` results of a prism in this order, after the last one of the page before
    /// (keyset pagination).
    pub async fn list_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        order: ResultOrder,
        last: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<SavedResult>, PersistenceError> {
        let query = ResultQuery::of_prism(account, prism, filter).page(order, last, limit);
        load_as!(self, query.statement(), ResultColumns).await
    }

    /// Finds which of these results belong to the account, oldest first. A few hundred ids at most.
    pub async fn find_results(
        &self,
        account: AccountId,
        ids: Vec<ResultId>,
    ) -> Result<Vec<SavedResult>, PersistenceError> {
        let query = ResultQuery::of_account(account).with_ids(ids);
        let query = query.ordered(ResultOrder::OldestFirst);
        load_as!(self, query.statement(), ResultColumns).await
    }

    /// Up to `limit` failed results of a prism that were never retried, after the given one, oldest
    /// first. The filter's `is_ok` and `is_retried` are ignored.
    pub async fn list_retriable_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        after: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<ResultId>, PersistenceError> {
        let query = ResultQuery::of_prism(account, prism, filter.only_retriable());
        let query = query.page(ResultOrder::OldestFirst, after, limit);
        self.read(async move |mut connection| {
            let found = on!(connection, load(query.statement().select(results::id)));
            Ok(found?)
        })
        .await
    }

    /// How many failed results of a prism were never retried. The filter's `is_ok` and `is_retried`
    /// are ignored.
    pub async fn count_retriable_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
    ) -> Result<u64, PersistenceError> {
        self.count_results(account, prism, filter.only_retriable())
            .await
    }

    /// How many results of a prism match a filter.
    pub async fn count_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
    ) -> Result<u64, PersistenceError> {
        let query = ResultQuery::of_prism(account, prism, filter);
        self.read(async move |mut connection| {
            let counted: i64 = on!(connection, get_result(query.statement().count()))?;
            Ok(u64::try_from(counted).unwrap_or_default())
        })
        .await
    }
}

/// The saved results of some rows of a file run.
#[derive(Clone, Debug)]
pub struct HeldRows {
    /// Whether the prism exists and is not archived.
    pub prism_answers: bool,
    /// The results that hold one of the keys, in no particular order.
    pub held: Vec<SavedResult>,
}

#[boxed]
impl Database {
    /// Finds the results of the account that hold one of these keys, and whether the prism still
    /// answers. Two queries for any number of keys; pass a few hundred at most.
    pub async fn find_held_rows(
        &self,
        account: AccountId,
        prism: PrismId,
        keys: &[IdempotencyKey],
    ) -> Result<HeldRows, PersistenceError> {
        let of_keys = ResultQuery::of_account(account).with_keys(keys);
        self.read(async move |mut connection| {
            let query = prisms::table
                .find(Bind(prism))
                .select(prisms::archived_at.is_null());
            let answers: Option<bool> = on!(connection, get_result(query)).optional()?;
            let found: Vec<ResultColumns> =
                on!(connection, load(of_keys.statement()) as ResultColumns)?;
            let held = found.into_iter().map(SavedResult::try_from);
            Ok(HeldRows {
                prism_answers: answers.unwrap_or(false),
                held: held.collect::<Result<_, _>>()?,
            })
        })
        .await
    }

    /// Finds which of these keys hold an answered result of the account. One query for any number
    /// of keys, without loading a result; pass a few hundred keys at most.
    pub async fn find_answered_keys(
        &self,
        account: AccountId,
        keys: &[IdempotencyKey],
    ) -> Result<HashSet<IdempotencyKey>, PersistenceError> {
        let query = ResultQuery {
            filter: ResultFilter {
                is_ok: Some(true),
                ..ResultFilter::default()
            },
            ..ResultQuery::of_account(account).with_keys(keys)
        };
        self.read(async move |mut connection| {
            let found: Vec<Option<String>> = on!(
                connection,
                load(query.statement().select(results::idempotency_key))
            )?;
            let keys = found.into_iter().flatten();
            Ok(keys.map(IdempotencyKey::saved).collect())
        })
        .await
    }
}
