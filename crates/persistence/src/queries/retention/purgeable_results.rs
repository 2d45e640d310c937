//! Results to be purged: those of a prism from before a moment, oldest first.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::BigInt;
use refract_boxed_futures::boxed;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::submission::Ref;

use crate::connections::{CUSTOM_PLAN, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::query::ResultQuery;
use crate::schema::sql_types::{Bind, Id, Moment};
use crate::schema::{prisms, results};

/// The moment at which a result was saved, in the expression of the index by age.
const AGE: &str = "COALESCE(created_at, created_at)";

/// Which results of a prism are purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurgeRange {
    /// The prism.
    pub prism: PrismId,
    /// Results that were saved before this moment.
    pub before: DateTime<Utc>,
    /// `Some(true)` for `ok` results only, `Some(false)` for `failed` ones only.
    pub is_ok: Option<bool>,
}

/// A result to be purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct PurgeableResult {
    /// The result's id.
    #[diesel(sql_type = Id)]
    pub id: ResultId,
    /// When the result was saved.
    #[diesel(sql_type = Moment)]
    pub created_at: DateTime<Utc>,
}

#[derive(QueryableByName)]
struct Counted {
    #[diesel(sql_type = BigInt)]
    results: i64,
}

impl PurgeRange {
    /// Every result of a prism that was saved before a moment.
    pub fn of_all(prism: PrismId, before: DateTime<Utc>) -> Self {
        Self {
            prism,
            before,
            is_ok: None,
        }
    }

    /// The condition on the results. Its parameters are the prism, the first moment and the moment
    /// before which the results were saved.
    fn condition(&self) -> String {
        let status = match self.is_ok {
            None => "",
            Some(true) => " AND error IS NULL",
            Some(false) => " AND error IS NOT NULL",
        };
        format!("FROM results WHERE prism_id = $1 AND {AGE} >= $2 AND {AGE} < $3{status}")
    }
}

#[boxed]
impl Database {
    /// The oldest results of a range that were saved at a moment or later, at most `limit`.
    pub async fn list_purgeable_results(
        &self,
        range: &PurgeRange,
        since: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<PurgeableResult>, PersistenceError> {
        let condition = range.condition();
        let text = format!("SELECT id, created_at {condition} ORDER BY {AGE} LIMIT $4");
        let PurgeRange { prism, before, .. } = *range;
        let query = sql_query(text)
            .bind::<Id, _>(Bind(prism))
            .bind::<Moment, _>(Bind(since))
            .bind::<Moment, _>(Bind(before))
            .bind::<BigInt, _>(i64::from(limit));
        self.load(query).await
    }

    /// The number of results in a range.
    pub async fn count_purgeable_results(
        &self,
        range: &PurgeRange,
    ) -> Result<u64, PersistenceError> {
        let condition = range.condition();
        let text = format!("SELECT COUNT(*) AS results {condition}");
        let PurgeRange { prism, before, .. } = *range;
        self.read(async move |mut connection| {
            let query = sql_query(text)
                .bind::<Id, _>(Bind(prism))
                .bind::<Moment, _>(Bind(DateTime::UNIX_EPOCH))
                .bind::<Moment, _>(Bind(before));
            let counted: Counted = on!(connection, get_result(query))?;
            Ok(u64::try_from(counted.results).unwrap_or_default())
        })
        .await
    }

    /// Counts the results of a prism that were saved at a moment or later, up to `at_most`.
    pub async fn count_results_from(
        &self,
        prism: PrismId,
        from: DateTime<Utc>,
        at_most: u64,
    ) -> Result<u64, PersistenceError> {
        let text = format!(
            "SELECT COUNT(*) AS results FROM (SELECT 1 FROM results \
             WHERE prism_id = $1 AND {AGE} >= $2 LIMIT $3) AS later"
        );
        self.read(async move |mut connection| {
            let query = sql_query(text)
                .bind::<Id, _>(Bind(prism))
                .bind::<Moment, _>(Bind(from))
                .bind::<BigInt, _>(i64::try_from(at_most).unwrap_or(i64::MAX));
            let counted: Counted = on!(connection, get_result(query))?;
            Ok(u64::try_from(counted.results).unwrap_or_default())
        })
        .await
    }

    /// The prisms of all accounts, each with its account, archived ones included.
    pub async fn list_prisms_of_all_accounts(
        &self,
    ) -> Result<Vec<(AccountId, PrismId)>, PersistenceError> {
        let query = prisms::table
            .order(prisms::id)
            .select((prisms::account_id, prisms::id));
        self.load(query).await
    }

    /// At most `limit` results of an account that have this reference.
    pub async fn list_results_of_reference(
        &self,
        account: AccountId,
        reference: &Ref,
        limit: u32,
    ) -> Result<Vec<ResultId>, PersistenceError> {
        let reference = reference.as_str().to_owned();
        self.read(async move |mut connection| {
            let query = results::table
                .filter(results::reference.eq_any(vec![Some(reference)]))
                .filter(results::account_id.eq(Bind(account)))
                .order((results::reference, results::prism_id, results::id))
                .limit(i64::from(limit))
                .select(results::id);
            Ok(on!(connection, CUSTOM_PLAN, load(query))?)
        })
        .await
    }

    /// Finds which of these results belong to the account, each with the failed result that it
    /// retried. A few hundred ids at most.
    pub async fn list_originals(
        &self,
        account: AccountId,
        ids: Vec<ResultId>,
    ) -> Result<Vec<(ResultId, Option<ResultId>)>, PersistenceError> {
        let query = ResultQuery::of_account(account).with_ids(ids);
        self.read(async move |mut connection| {
            let found = on!(
                connection,
                load(query.statement().select((results::id, results::retry_of)))
            );
            Ok(found?)
        })
        .await
    }
}
