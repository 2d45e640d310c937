//! The query builder behind every list of results: which results, in which order, how many. The
//! reader chooses the columns.

use chrono::{DateTime, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::query_builder::QueryFragment;
use diesel::query_dsl::methods::BoxedDsl;
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, Bool, HasSqlType, Integer, Text};
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::ResultActor;
use refract_domain::submission::{IdempotencyKey, Ref};

use crate::queries::results::lists::filter::ResultFilter;
use crate::schema::results;
use crate::schema::sql_types::{Bind, Id, Moment};

/// The order in which results are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOrder {
    /// In the order of creation, which is that of the ids.
    OldestFirst,
    /// Reverse order of creation.
    NewestFirst,
}

impl ResultOrder {
    /// The ids of a range that come after `last` in this order.
    pub(crate) fn after(
        self,
        (first, end): (ResultId, ResultId),
        last: Option<ResultId>,
    ) -> (ResultId, ResultId) {
        match (self, last) {
            (_, None) => (first, end),
            (Self::OldestFirst, Some(last)) => (last.max(first), end),
            (Self::NewestFirst, Some(last)) => (first, last.min(end)),
        }
    }
}

/// Which results are read, in which order and how many of them. An omitted part restricts nothing.
#[derive(Clone, Default)]
pub(crate) struct ResultQuery {
    pub(crate) account: Option<AccountId>,
    pub(crate) prism: Option<PrismId>,
    pub(crate) filter: ResultFilter,
    /// Only results with an id above the first and below the second one.
    pub(crate) between: Option<(ResultId, ResultId)>,
    /// Only these results.
    pub(crate) ids: Option<Vec<ResultId>>,
    /// Only results that hold one of these idempotency keys.
    pub(crate) keys: Option<Vec<Option<String>>>,
    /// Only results that have a `ref`.
    pub(crate) has_reference: bool,
    /// Only results whose fields, as JSON in lower case, match each of these patterns of `LIKE`.
    pub(crate) patterns: Vec<String>,
    pub(crate) order: Option<ResultOrder>,
    pub(crate) limit: Option<i64>,
}

impl ResultQuery {
    /// The results of a prism that match a filter.
    pub(crate) fn of_prism(account: AccountId, prism: PrismId, filter: ResultFilter) -> Self {
        Self {
            account: Some(account),
            prism: Some(prism),
            between: Some(filter.ids()),
            filter,
            ..Self::default()
        }
    }

    /// The results of an account, of any prism.
    pub(crate) fn of_account(account: AccountId) -> Self {
        Self {
            account: Some(account),
            ..Self::default()
        }
    }

    /// Only these results.
    pub(crate) fn with_ids(self, ids: Vec<ResultId>) -> Self {
        Self {
            ids: Some(ids),
            ..self
        }
    }

    /// Only results that hold one of these idempotency keys.
    pub(crate) fn with_keys(self, keys: &[IdempotencyKey]) -> Self {
        let keys = keys.iter().map(|key| Some(key.as_str().to_owned()));
        Self {
            keys: Some(keys.collect()),
            ..self
        }
    }

    /// Results in this order.
    pub(crate) fn ordered(self, order: ResultOrder) -> Self {
        Self {
            order: Some(order),
            ..self
        }
    }

    /// One page (keyset pagination): at most `limit` results after `last` in this order, or from
    /// the beginning.
    pub(crate) fn page(self, order: ResultOrder, last: Option<ResultId>, limit: u32) -> Self {
        let between = self.between.unwrap_or(ResultFilter::ALL_IDS);
        Self {
            between: Some(order.after(between, last)),
            order: Some(order),
            limit: Some(i64::from(limit)),
            ..self
        }
    }

    /// The statement, without its columns.
    pub(crate) fn statement<DB>(self) -> results::BoxedQuery<'static, DB>
    where
        DB: Backend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment> + 'static,
        results::table: BoxedDsl<'static, DB, Output = results::BoxedQuery<'static, DB>>,
        AccountId: ToSql<Id, DB>,
        ApiKeyId: ToSql<Id, DB>,
        FileRunId: ToSql<Id, DB>,
        PersonId: ToSql<Id, DB>,
        PrismId: ToSql<Id, DB>,
        ResultId: ToSql<Id, DB>,
        DateTime<Utc>: ToSql<Moment, DB>,
        i32: ToSql<Integer, DB>,
        String: ToSql<Text, DB>,
        OneOf<results::id, Vec<Bind<ResultId>>>: QueryFragment<DB>,
        OneOf<results::idempotency_key, Vec<Option<String>>>: QueryFragment<DB>,
        i64: ToSql<BigInt, DB>,
    {
        let mut query = QueryDsl::into_boxed(results::table);
        if let Some(account) = self.account {
            query = query.filter(results::account_id.eq(Bind(account)));
        }
        if let Some(prism) = self.prism {
            query = query.filter(results::prism_id.eq(Bind(prism)));
        }
        if let Some((first, end)) = self.between {
            query = query.filter(results::id.gt(Bind(first)));
            query = query.filter(results::id.lt(Bind(end)));
        }
        if let Some(ids) = self.ids {
            let ids: Vec<_> = ids.into_iter().map(Bind).collect();
            query = query.filter(results::id.eq_any(ids));
        }
        if let Some(keys) = self.keys {
            query = query.filter(results::idempotency_key.eq_any(keys));
        }
        if self.has_reference {
            query = query.filter(results::reference.is_not_null());
        }
        for pattern in self.patterns {
            let is_like = sql::<Bool>("lower(results.fields) LIKE ");
            query = query.filter(is_like.bind::<Text, _>(pattern).sql(r" ESCAPE '\'"));
        }
        query = self.filter.narrow(query);
        query = match self.order {
            None => query,
            Some(ResultOrder::OldestFirst) => query.order(results::id),
            Some(ResultOrder::NewestFirst) => query.order(results::id.desc()),
        };
        match self.limit {
            None => query,
            Some(limit) => query.limit(limit),
        }
    }
}

type OneOf<C, V> = diesel::dsl::EqAny<C, V>;
