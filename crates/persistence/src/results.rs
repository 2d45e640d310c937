//! Reading results for commands and exports, which have an account instead of a key.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::call::IdempotencyKey;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::SavedResult;
use uuid::Uuid;

use crate::database::Database;
use crate::error::PersistenceError;
use crate::prisms::{PrismColumns, PrismRow};
use crate::result_columns::ResultColumns;
use crate::schema::{prisms, results};
use crate::sql_types::Bind;

diesel::alias!(pub(crate) const RETRIES: Alias<Retries> = results as retries);

/// A result, its prism, and the result that retried it when one did.
pub type FoundResult = (SavedResult, PrismRow, Option<ResultId>);

/// Which results of a prism are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResultFilter {
    /// `Some(true)` for `ok` ones, `Some(false)` for `failed` ones.
    pub is_ok: Option<bool>,
    /// From this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Before this moment.
    pub until: Option<DateTime<Utc>>,
}

/// The results of a prism that a filter lets through. What is absent of it lets everything
/// through, so that each query is one statement whatever is asked for.
macro_rules! wanted {
    ($account:expr, $prism:expr, $filter:expr) => {{
        let statuses = match $filter.is_ok {
            None => vec!["ok", "failed"],
            Some(true) => vec!["ok"],
            Some(false) => vec!["failed"],
        };
        let since = $filter.since.unwrap_or(DateTime::UNIX_EPOCH);
        let until = $filter.until.unwrap_or(END_OF_TIME);
        results::table
            .filter(results::account_id.eq(Bind($account)))
            .filter(results::prism_id.eq(Bind($prism)))
            .filter(results::status.eq_any(statuses))
            .filter(results::created_at.ge(Bind(since)))
            .filter(results::created_at.lt(Bind(until)))
    }};
}

/// Those of them that failed and were never retried.
macro_rules! retriable {
    ($account:expr, $prism:expr, $filter:expr) => {{
        let failed = ResultFilter {
            is_ok: Some(false),
            ..$filter
        };
        let retries = RETRIES.on(RETRIES.field(results::retry_of).eq(results::id.nullable()));
        wanted!($account, $prism, failed)
            .left_join(retries)
            .filter(RETRIES.field(results::id).nullable().is_null())
    }};
}

impl Database {
    /// A result of the account.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_result(
        &self,
        account: AccountId,
        result: ResultId,
    ) -> Result<Option<FoundResult>, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = results::table
                .inner_join(prisms::table.on(prisms::id.eq(results::prism_id)))
                .left_join(RETRIES.on(RETRIES.field(results::retry_of).eq(results::id.nullable())))
                .filter(results::id.eq(Bind(result)))
                .filter(results::account_id.eq(Bind(account)));
            let found: Option<(ResultColumns, PrismColumns, Option<ResultId>)> = on!(
                connection,
                get_result(query.select((
                    ResultColumns::as_select(),
                    PrismColumns::as_select(),
                    RETRIES.field(results::id).nullable(),
                )))
            )
            .optional()?;
            let Some((result, prism, retried_as)) = found else {
                return Ok(None);
            };
            Ok(Some((result.try_into()?, prism.try_into()?, retried_as)))
        })
        .await
    }

    /// The result that holds an idempotency key in the account.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_result_by_key(
        &self,
        account: AccountId,
        key: &IdempotencyKey,
    ) -> Result<Option<SavedResult>, PersistenceError> {
        let (database, key) = (self.clone(), key.as_str().to_owned());
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = results::table
                .filter(results::account_id.eq(Bind(account)))
                .filter(results::idempotency_key.eq(Some(key)));
            let found: Option<ResultColumns> = on!(
                connection,
                get_result(query.select(ResultColumns::as_select()))
            )
            .optional()?;
            found.map(SavedResult::try_from).transpose()
        })
        .await
    }

    /// Up to `limit` results of a prism after the one named, in the order of their ids, which is
    /// that of their making; for the next page name the last one of this.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        after: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<SavedResult>, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = wanted!(account, prism, filter)
                .filter(results::id.gt(Bind(after.unwrap_or(ResultId(Uuid::nil())))))
                .order(results::id)
                .limit(i64::from(limit));
            let found: Vec<ResultColumns> =
                on!(connection, load(query.select(ResultColumns::as_select())))?;
            found.into_iter().map(SavedResult::try_from).collect()
        })
        .await
    }

    /// The same from the other end: up to `limit` results before the one named, newest first.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_newest_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        before: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<SavedResult>, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = wanted!(account, prism, filter)
                .filter(results::id.lt(Bind(before.unwrap_or(ResultId(Uuid::max())))))
                .order(results::id.desc())
                .limit(i64::from(limit));
            let found: Vec<ResultColumns> =
                on!(connection, load(query.select(ResultColumns::as_select())))?;
            found.into_iter().map(SavedResult::try_from).collect()
        })
        .await
    }

    /// Up to `limit` failed results of a prism that were never retried, after the one named, oldest
    /// first. `filter.is_ok` says nothing here.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_retriable_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        after: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<ResultId>, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = retriable!(account, prism, filter)
                .filter(results::id.gt(Bind(after.unwrap_or(ResultId(Uuid::nil())))))
                .order(results::id)
                .limit(i64::from(limit))
                .select(results::id);
            Ok(on!(connection, load(query))?)
        })
        .await
    }

    /// How many there are of these.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_retriable_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
    ) -> Result<u64, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = retriable!(account, prism, filter).count();
            let counted: i64 = on!(connection, get_result(query))?;
            Ok(u64::try_from(counted).unwrap_or_default())
        })
        .await
    }

    /// How many results of a prism a filter lets through.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
    ) -> Result<u64, PersistenceError> {
        let database = self.clone();
        self.run(async move {
            let mut connection = database.reader().await?;
            let query = wanted!(account, prism, filter).count();
            let counted: i64 = on!(connection, get_result(query))?;
            Ok(u64::try_from(counted).unwrap_or_default())
        })
        .await
    }
}

/// After every result and within what both databases can write.
const END_OF_TIME: DateTime<Utc> = DateTime::<Utc>::MAX_UTC;
