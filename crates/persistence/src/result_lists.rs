//! The results of a prism, as commands and exports list and count them.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::dsl::{exists, not};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::result::SavedResult;
use uuid::{Builder, Uuid};

use crate::database::Database;
use crate::error::PersistenceError;
use crate::result_columns::ResultColumns;
use crate::results::RETRIES;
use crate::schema::results;
use crate::sql_types::Bind;

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

/// From which end results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOrder {
    /// In the order of their making, which is that of their ids.
    OldestFirst,
    /// Against it.
    NewestFirst,
}

/// How far the moment in a result's id may be from the one that it was saved with. Both are read off
/// the same clock, one right after the other, unless somebody sets that clock in between.
const APART: TimeDelta = TimeDelta::days(1);

impl ResultFilter {
    /// Ids between which all that it lets through are: an id begins with the moment of its making,
    /// so that an index of ids leads to a period without a look at what is outside of it.
    fn ids(&self) -> (ResultId, ResultId) {
        let nearby = |moment: DateTime<Utc>, apart| moment.checked_add_signed(apart).map(first_id);
        let first = self.since.and_then(|since| nearby(since, -APART));
        let end = self.until.and_then(|until| nearby(until, APART));
        (
            first.unwrap_or(ResultId(Uuid::nil())),
            end.unwrap_or(ResultId(Uuid::max())),
        )
    }
}

/// The lowest id of a moment (RFC 9562, 5.7): 48 bits of milliseconds, then the version, the variant
/// and zeros.
fn first_id(moment: DateTime<Utc>) -> ResultId {
    let milliseconds = u64::try_from(moment.timestamp_millis()).unwrap_or_default();
    let milliseconds = milliseconds.min((1 << 48) - 1);
    ResultId(Builder::from_unix_timestamp_millis(milliseconds, &[0; 10]).into_uuid())
}

/// Some of a prism's results.
#[derive(Clone, Copy)]
struct Wanted {
    account: AccountId,
    prism: PrismId,
    filter: ResultFilter,
    /// Only those after this one.
    after: Option<ResultId>,
    /// Only those before this one.
    before: Option<ResultId>,
}

impl Wanted {
    fn new(account: AccountId, prism: PrismId, filter: ResultFilter) -> Self {
        Self {
            account,
            prism,
            filter,
            after: None,
            before: None,
        }
    }

    fn after(self, after: Option<ResultId>) -> Self {
        Self { after, ..self }
    }

    fn before(self, before: Option<ResultId>) -> Self {
        Self { before, ..self }
    }
}

macro_rules! query_of_wanted {
    ($name:ident, $backend:ty) => {
        /// The query for them. `error` stands in for the status, since an index holds those that
        /// have one.
        fn $name(wanted: Wanted) -> results::BoxedQuery<'static, $backend> {
            let filter = wanted.filter;
            let (first, end) = filter.ids();
            let after = wanted.after.unwrap_or(first).max(first);
            let before = wanted.before.unwrap_or(end).min(end);
            let mut query = results::table
                .filter(results::account_id.eq(Bind(wanted.account)))
                .filter(results::prism_id.eq(Bind(wanted.prism)))
                .filter(results::id.gt(Bind(after)))
                .filter(results::id.lt(Bind(before)))
                .into_boxed();
            if let Some(since) = filter.since {
                query = query.filter(results::created_at.ge(Bind(since)));
            }
            if let Some(until) = filter.until {
                query = query.filter(results::created_at.lt(Bind(until)));
            }
            match filter.is_ok {
                None => query,
                Some(true) => query.filter(results::error.is_null()),
                Some(false) => query.filter(results::error.is_not_null()),
            }
        }
    };
}

query_of_wanted!(on_postgres, Pg);
query_of_wanted!(on_sqlite, Sqlite);

/// Runs a query made of that for the wanted results: `on_wanted!(connection, wanted, load(|query|
/// query.limit(1)))`.
macro_rules! on_wanted {
    ($connection:expr, $wanted:expr, $run:ident(|$query:ident| $made:expr)) => {
        on!(
            $connection,
            $run,
            {
                let $query = on_postgres($wanted);
                $made
            },
            {
                let $query = on_sqlite($wanted);
                $made
            }
        )
    };
}

/// Those of them that were never retried.
macro_rules! never_retried {
    ($query:expr) => {{
        let retry = RETRIES.filter(RETRIES.field(results::retry_of).eq(results::id.nullable()));
        $query.filter(not(exists(retry)))
    }};
}

impl Database {
    /// Up to `limit` results of a prism in this order, from behind the last one of the page before.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
        order: ResultOrder,
        last: Option<ResultId>,
        limit: u32,
    ) -> Result<Vec<SavedResult>, PersistenceError> {
        let database = self.clone();
        let (wanted, limit) = (Wanted::new(account, prism, filter), i64::from(limit));
        self.run(async move {
            let mut connection = database.reader().await?;
            let found: Vec<ResultColumns> = match order {
                ResultOrder::OldestFirst => on_wanted!(
                    connection,
                    wanted.after(last),
                    load(|query| query
                        .order(results::id)
                        .limit(limit)
                        .select(ResultColumns::as_select()))
                ),
                ResultOrder::NewestFirst => on_wanted!(
                    connection,
                    wanted.before(last),
                    load(|query| query
                        .order(results::id.desc())
                        .limit(limit)
                        .select(ResultColumns::as_select()))
                ),
            }?;
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
        let wanted = Wanted::new(account, prism, filter.only_failed()).after(after);
        self.run(async move {
            let mut connection = database.reader().await?;
            let found = on_wanted!(
                connection,
                wanted,
                load(|query| never_retried!(query)
                    .order(results::id)
                    .limit(i64::from(limit))
                    .select(results::id))
            );
            Ok(found?)
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
        let wanted = Wanted::new(account, prism, filter.only_failed());
        self.run(async move {
            let mut connection = database.reader().await?;
            let counted: i64 = on_wanted!(
                connection,
                wanted,
                get_result(|query| never_retried!(query).count())
            )?;
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
        let wanted = Wanted::new(account, prism, filter);
        self.run(async move {
            let mut connection = database.reader().await?;
            let counted: i64 = on_wanted!(connection, wanted, get_result(|query| query.count()))?;
            Ok(u64::try_from(counted).unwrap_or_default())
        })
        .await
    }
}

impl ResultFilter {
    fn only_failed(self) -> Self {
        Self {
            is_ok: Some(false),
            ..self
        }
    }
}
