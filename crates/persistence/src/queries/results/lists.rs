//! The results of a prism, as commands and exports list and count them.

mod answer_pages;
mod candidate_range;
mod candidates;
pub(in crate::queries) mod filter;
mod held_rows;
mod pages;
pub(in crate::queries) mod paging;
pub(in crate::queries) mod query;
mod sample;

use diesel::prelude::*;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::SavedResult;

pub use self::answer_pages::{AnswerPages, StoredAnswers};
pub use self::candidates::SearchCandidate;
pub use self::filter::ResultFilter;
pub use self::held_rows::HeldRows;
pub use self::pages::ResultPages;
pub use self::query::ResultOrder;
use crate::connections::{load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::query::ResultQuery;
use crate::queries::results::row::ResultColumns;
use crate::schema::results;

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
