//! The results of a prism, as commands and exports list and count them.

use chrono::{DateTime, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::dsl::{exists, not};
use diesel::prelude::*;
use diesel::query_dsl::methods::BoxedDsl;
use diesel::serialize::ToSql;
use diesel::sql_types::{HasSqlType, Integer, Text};
use refract_domain::ids::{AccountId, ApiKeyId, PersonId, PrismId, ResultId};
use refract_domain::result::SavedResult;

use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::result_filter::ResultFilter;
use crate::queries::result_row::ResultColumns;
use crate::schema::results;
use crate::schema::sql_types::{Bind, Id, Moment};

/// From which end results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOrder {
    /// In the order of creation, which is that of the ids.
    OldestFirst,
    /// Against the order of creation.
    NewestFirst,
}

/// A range of a prism's results.
#[derive(Clone)]
pub(crate) struct ResultRange {
    account: AccountId,
    prism: PrismId,
    filter: ResultFilter,
    /// Only results after this one.
    after: Option<ResultId>,
    /// Only results before this one.
    before: Option<ResultId>,
}

impl ResultRange {
    pub(crate) fn new(account: AccountId, prism: PrismId, filter: ResultFilter) -> Self {
        Self {
            account,
            prism,
            filter,
            after: None,
            before: None,
        }
    }

    /// The results of the range that come after one in this order; all of them for `None`.
    pub(crate) fn beyond(self, last: Option<ResultId>, order: ResultOrder) -> Self {
        match order {
            ResultOrder::OldestFirst => Self {
                after: last,
                ..self
            },
            ResultOrder::NewestFirst => Self {
                before: last,
                ..self
            },
        }
    }

    /// The query for these results.
    pub(crate) fn query<DB>(self) -> results::BoxedQuery<'static, DB>
    where
        DB: Backend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment> + 'static,
        results::table: BoxedDsl<'static, DB, Output = results::BoxedQuery<'static, DB>>,
        AccountId: ToSql<Id, DB>,
        ApiKeyId: ToSql<Id, DB>,
        PersonId: ToSql<Id, DB>,
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

diesel::alias!(const RETRIES: Alias<Retries> = results as retries);

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
        let range = ResultRange::new(account, prism, filter).beyond(last, order);
        let limit = i64::from(limit);
        self.read(async move |mut connection| {
            let found: Vec<ResultColumns> = match order {
                ResultOrder::OldestFirst => on!(
                    connection,
                    load(
                        range
                            .query()
                            .order(results::id)
                            .limit(limit)
                            .select(ResultColumns::as_select())
                    )
                ),
                ResultOrder::NewestFirst => on!(
                    connection,
                    load(
                        range
                            .query()
                            .order(results::id.desc())
                            .limit(limit)
                            .select(ResultColumns::as_select())
                    )
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
        let range = ResultRange::new(account, prism, filter.only_failed())
            .beyond(after, ResultOrder::OldestFirst);
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
