//! The results of a prism, as commands and exports list and count them.

use chrono::{DateTime, TimeDelta, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel::query_dsl::methods::BoxedDsl;
use diesel::serialize::ToSql;
use diesel::sql_types::{HasSqlType, Integer, Text};
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::SavedResult;
use uuid::{Builder, Uuid};

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::result_row::ResultColumns;
use crate::queries::results::RETRIES;
use crate::schema::results;
use crate::schema::sql_types::{Bind, Id, Moment};

/// Which results of a prism are listed or counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultFilter {
    /// `Some(true)` for `ok` results, `Some(false)` for `failed` ones.
    pub is_ok: Option<bool>,
    /// Results from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Results before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Results that this version answered.
    pub version: Option<VersionNumber>,
    /// Results of the model that its server calls so.
    pub model: Option<String>,
}

/// From which end results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOrder {
    /// In the order of creation, which is that of the ids.
    OldestFirst,
    /// Against the order of creation.
    NewestFirst,
}

/// How far the moment in a result's id may be from its saved moment. Both are read off one clock,
/// one right after the other; only a clock that is set in between moves them apart.
const APART: TimeDelta = TimeDelta::days(1);

impl ResultFilter {
    /// Ids between which all results of the period are: an id begins with the moment of its
    /// making, so that an index of ids leads to a period without a look at what is outside it.
    pub(crate) fn ids(&self) -> (ResultId, ResultId) {
        let nearby = |moment: DateTime<Utc>, apart| moment.checked_add_signed(apart).map(first_id);
        let first = self.since.and_then(|since| nearby(since, -APART));
        let end = self.until.and_then(|until| nearby(until, APART));
        (
            first.unwrap_or(ResultId(Uuid::nil())),
            end.unwrap_or(ResultId(Uuid::max())),
        )
    }

    fn only_failed(self) -> Self {
        Self {
            is_ok: Some(false),
            ..self
        }
    }

    /// Those results of a query that the filter lets through. The column `error` stands in for the
    /// status, since an index holds the results that have one.
    pub(crate) fn narrow<DB>(
        self,
        mut query: results::BoxedQuery<'static, DB>,
    ) -> results::BoxedQuery<'static, DB>
    where
        DB: Backend + DieselReserveSpecialization + HasSqlType<Moment> + 'static,
        results::table: BoxedDsl<'static, DB, Output = results::BoxedQuery<'static, DB>>,
        DateTime<Utc>: ToSql<Moment, DB>,
        i32: ToSql<Integer, DB>,
        String: ToSql<Text, DB>,
    {
        if let Some(since) = self.since {
            query = query.filter(results::created_at.ge(Bind(since)));
        }
        if let Some(until) = self.until {
            query = query.filter(results::created_at.lt(Bind(until)));
        }
        if let Some(version) = self.version {
            query = query.filter(results::version.eq(version.get()));
        }
        if let Some(model) = self.model {
            query = query.filter(results::model_name.eq(Some(model)));
        }
        match self.is_ok {
            None => query,
            Some(true) => query.filter(results::error.is_null()),
            Some(false) => query.filter(results::error.is_not_null()),
        }
    }
}

/// The lowest id of a moment (RFC 9562, 5.7): 48 bits of milliseconds, then the version, the variant
/// and zeros.
fn first_id(moment: DateTime<Utc>) -> ResultId {
    let milliseconds = u64::try_from(moment.timestamp_millis()).unwrap_or_default();
    let milliseconds = milliseconds.min((1 << 48) - 1);
    ResultId(Builder::from_unix_timestamp_millis(milliseconds, &[0; 10]).into_uuid())
}

/// A range of a prism's results.
#[derive(Clone)]
struct ResultRange {
    account: AccountId,
    prism: PrismId,
    filter: ResultFilter,
    /// Only results after this one.
    after: Option<ResultId>,
    /// Only results before this one.
    before: Option<ResultId>,
}

impl ResultRange {
    fn new(account: AccountId, prism: PrismId, filter: ResultFilter) -> Self {
        Self {
            account,
            prism,
            filter,
            after: None,
            before: None,
        }
    }

    /// The query for these results.
    fn query<DB>(self) -> results::BoxedQuery<'static, DB>
    where
        DB: Backend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment> + 'static,
        results::table: BoxedDsl<'static, DB, Output = results::BoxedQuery<'static, DB>>,
        AccountId: ToSql<Id, DB>,
        PrismId: ToSql<Id, DB>,
        ResultId: ToSql<Id, DB>,
        DateTime<Utc>: ToSql<Moment, DB>,
        i32: ToSql<Integer, DB>,
        String: ToSql<Text, DB>,
    {
        let (first, end) = self.filter.ids();
        let after = self.after.unwrap_or(first).max(first);
        let before = self.before.unwrap_or(end).min(end);
        let query = QueryDsl::into_boxed(results::table)
            .filter(results::account_id.eq(Bind(self.account)))
            .filter(results::prism_id.eq(Bind(self.prism)))
            .filter(results::id.gt(Bind(after)))
            .filter(results::id.lt(Bind(before)));
        self.filter.narrow(query)
    }
}

/// Whether a result was retried.
#[diesel::dsl::auto_type]
fn was_retried() -> _ {
    exists(RETRIES.filter(RETRIES.field(results::retry_of).eq(results::id.nullable())))
}

impl Database {
    /// Up to `limit` results of a prism in this order, after the last one of the page before
    /// (keyset pagination).
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
        let all = ResultRange::new(account, prism, filter);
        let limit = i64::from(limit);
        self.read(async move |mut connection| {
            let found: Vec<ResultColumns> = match order {
                ResultOrder::OldestFirst => {
                    let range = ResultRange { after: last, ..all };
                    on!(
                        connection,
                        load(
                            range
                                .query()
                                .order(results::id)
                                .limit(limit)
                                .select(ResultColumns::as_select())
                        )
                    )
                }
                ResultOrder::NewestFirst => {
                    let range = ResultRange {
                        before: last,
                        ..all
                    };
                    on!(
                        connection,
                        load(
                            range
                                .query()
                                .order(results::id.desc())
                                .limit(limit)
                                .select(ResultColumns::as_select())
                        )
                    )
                }
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
        let all = ResultRange::new(account, prism, filter.only_failed());
        let range = ResultRange { after, ..all };
        self.read(async move |mut connection| {
            let found = on!(
                connection,
                load(
                    range
                        .query()
                        .filter(not(was_retried()))
                        .order(results::id)
                        .limit(i64::from(limit))
                        .select(results::id)
                )
            );
            Ok(found?)
        })
        .await
    }

    /// How many failed results of a prism were never retried. `filter.is_ok` says nothing here.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_retriable_results(
        &self,
        account: AccountId,
        prism: PrismId,
        filter: ResultFilter,
    ) -> Result<u64, PersistenceError> {
        let range = ResultRange::new(account, prism, filter.only_failed());
        self.read(async move |mut connection| {
            let counted: i64 = on!(
                connection,
                get_result(range.query().filter(not(was_retried())).count())
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
        let range = ResultRange::new(account, prism, filter);
        self.read(async move |mut connection| {
            let counted: i64 = on!(connection, get_result(range.query().count()))?;
            Ok(u64::try_from(counted).unwrap_or_default())
        })
        .await
    }
}
