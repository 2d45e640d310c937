//! The query builder behind every list of results: which results, in which order, how many. The
//! reader chooses the columns. And the filter of a prism's results: as a condition in SQL, and as
//! the rest to check on a result that an index found.

use chrono::{DateTime, TimeDelta, Utc};
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

/// Whether a result was retried: in SQL, since a nested diesel query for either database needs a
/// trait bound for each of its types.
const WAS_RETRIED: &str =
    "EXISTS (SELECT 1 FROM results AS retries WHERE retries.retry_of = results.id)";

/// Which results of a prism are listed or counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultFilter {
    /// `Some(true)` for `ok` results, `Some(false)` for `failed` ones.
    pub is_ok: Option<bool>,
    /// `Some(false)` for failed results that were never retried, `Some(true)` for failed results
    /// that were.
    pub is_retried: Option<bool>,
    /// Results from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Results before this moment.
    pub until: Option<DateTime<Utc>>,
    /// Results that this version answered.
    pub version: Option<VersionNumber>,
    /// Results of the model with this name, as its server reports it.
    pub model: Option<String>,
    /// Results with this `ref`.
    pub reference: Option<Ref>,
    /// Results that this program, this person or the terminal made.
    pub actor: Option<ResultActor>,
    /// Results that this stored file run made.
    pub run: Option<FileRunId>,
    /// `Some(false)` for results that no stored file run made, `Some(true)` for those of any.
    pub is_of_run: Option<bool>,
}

/// Largest difference between the moment in a result's id and its saved moment. Both are of one
/// reading of the clock; only a clock that is set back moves them apart, by a minute at most, since
/// ids increase meanwhile. It is short because a search within a period also reads this margin.
const APART: TimeDelta = TimeDelta::minutes(5);

impl ResultFilter {
    /// The part of this filter that one index answers, however many results the prism has: the
    /// period, and the one other condition that usually matches the fewest results.
    ///
    /// No index covers two conditions, and a query for both may walk through all results that match
    /// the first to find the few that match the second.
    #[must_use]
    pub fn by_index(&self) -> Self {
        let period = Self {
            since: self.since,
            until: self.until,
            ..Self::default()
        };
        let is_failed = self.is_retried.is_some() || self.is_ok == Some(false);
        if self.run.is_some() && self.reference.is_none() {
            return Self {
                run: self.run,
                ..period
            };
        }
        match (&self.reference, self.actor, self.version) {
            (Some(reference), _, _) => Self {
                reference: Some(reference.clone()),
                ..period
            },
            (None, Some(actor @ (ResultActor::Person(_) | ResultActor::Operator)), _) => Self {
                actor: Some(actor),
                ..period
            },
            _ if is_failed => Self {
                is_ok: Some(false),
                ..period
            },
            (None, Some(ResultActor::Key(_)) | None, Some(version)) => Self {
                version: Some(version),
                ..period
            },
            (None, actor, None) => Self { actor, ..period },
        }
    }

    /// The ids between which all results are.
    pub(crate) const ALL_IDS: (ResultId, ResultId) = (ResultId::LOWEST, ResultId::HIGHEST);

    /// The ids between which all results of the period are: an id begins with its creation time, so
    /// that an index of ids finds a period without reading anything outside it.
    pub(crate) fn ids(&self) -> (ResultId, ResultId) {
        let nearby = |moment: DateTime<Utc>, apart| {
            let moment = moment.checked_add_signed(apart);
            moment.map(ResultId::first_of)
        };
        let first = self.since.and_then(|since| nearby(since, -APART));
        let end = self.until.and_then(|until| nearby(until, APART));
        let (lowest, highest) = Self::ALL_IDS;
        (first.unwrap_or(lowest), end.unwrap_or(highest))
    }

    /// The failed results that were never retried, among those that match the other conditions.
    pub(crate) fn only_retriable(self) -> Self {
        Self {
            is_ok: None,
            is_retried: Some(false),
            ..self
        }
    }

    /// Narrows a query to the results that match the filter. The column `error` replaces the
    /// status, since an index holds the results that have an error.
    fn narrow<DB>(
        self,
        mut query: results::BoxedQuery<'static, DB>,
    ) -> results::BoxedQuery<'static, DB>
    where
        DB: Backend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment> + 'static,
        results::table: BoxedDsl<'static, DB, Output = results::BoxedQuery<'static, DB>>,
        ApiKeyId: ToSql<Id, DB>,
        FileRunId: ToSql<Id, DB>,
        PersonId: ToSql<Id, DB>,
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
        if let Some(reference) = self.reference {
            query = query.filter(results::reference.eq(Some(reference.as_str().to_owned())));
        }
        query = match self.actor {
            None => query,
            Some(ResultActor::Key(key)) => query.filter(results::api_key_id.eq(Some(key))),
            Some(ResultActor::Person(person)) => query.filter(results::made_by.eq(Some(person))),
            Some(ResultActor::Operator) => query
                .filter(results::api_key_id.is_null())
                .filter(results::made_by.is_null()),
        };
        if let Some(run) = self.run {
            query = query.filter(results::file_run_id.eq(Some(run)));
        }
        query = match self.is_of_run {
            None => query,
            Some(true) => query.filter(results::file_run_id.is_not_null()),
            Some(false) => query.filter(results::file_run_id.is_null()),
        };
        if let Some(is_retried) = self.is_retried {
            let is_so = if is_retried { "" } else { "NOT " };
            query = query
                .filter(results::error.is_not_null())
                .filter(sql::<Bool>(&format!("{is_so}{WAS_RETRIED}")));
        }
        match self.is_ok {
            None => query,
            Some(true) => query.filter(results::error.is_null()),
            Some(false) => query.filter(results::error.is_not_null()),
        }
    }
}
