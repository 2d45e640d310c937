//! The statement that finds the candidates of a search, in a shape that leaves the planner one index.
//!
//! With a `LIMIT`, PostgreSQL's planner takes any index in the right order, and hopes to meet enough
//! results on the way: for the results of version 1 it would walk over a million newer ones of
//! version 2. So a statement is in the order of what it searches for and then of ids, which only the
//! index that begins with it has. The value is compared as the one element of an array, since a
//! planner drops a column that equals a constant from the order.

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sqlite::Sqlite;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::maker::Maker;

use crate::queries::result_filter::ResultFilter;
use crate::queries::result_lists::ResultOrder;
use crate::schema::results;
use crate::schema::sql_types::Bind;

/// Results that one index finds, in an order, from an id on.
pub(crate) struct CandidateRange {
    account: AccountId,
    prism: PrismId,
    /// With one condition beside the period at most.
    filter: ResultFilter,
    order: ResultOrder,
    /// Ids are above this one.
    after: ResultId,
    /// Ids are below this one.
    before: ResultId,
}

impl CandidateRange {
    /// The results that one index finds for a filter, after `last` in this order.
    pub(crate) fn new(
        account: AccountId,
        prism: PrismId,
        filter: &ResultFilter,
        order: ResultOrder,
        last: Option<ResultId>,
    ) -> Self {
        let filter = filter.by_index();
        let (first, end) = filter.ids();
        let (after, before) = match (order, last) {
            (_, None) => (first, end),
            (ResultOrder::OldestFirst, Some(last)) => (last.max(first), end),
            (ResultOrder::NewestFirst, Some(last)) => (first, last.min(end)),
        };
        Self {
            account,
            prism,
            filter,
            order,
            after,
            before,
        }
    }

    /// The statement, without its limit and its columns.
    pub(crate) fn query<DB: CandidateBackend>(self) -> results::BoxedQuery<'static, DB> {
        DB::query(self)
    }
}

/// A database that candidates are found in.
pub(crate) trait CandidateBackend: Backend {
    /// See [`CandidateRange::query`].
    fn query(range: CandidateRange) -> results::BoxedQuery<'static, Self>;
}

/// Orders a query by a column and then by id.
macro_rules! by {
    ($query:expr, $order:expr, $column:path) => {
        match $order {
            ResultOrder::OldestFirst => $query.order(($column, results::id)),
            ResultOrder::NewestFirst => $query.order(($column.desc(), results::id.desc())),
        }
    };
}

macro_rules! candidate_backend {
    ($backend:ty) => {
        impl CandidateBackend for $backend {
            fn query(range: CandidateRange) -> results::BoxedQuery<'static, Self> {
                let CandidateRange {
                    account,
                    prism,
                    filter,
                    order,
                    after,
                    before,
                } = range;
                let mut query = QueryDsl::into_boxed::<$backend>(results::table)
                    .filter(results::account_id.eq(Bind(account)))
                    .filter(results::id.gt(Bind(after)))
                    .filter(results::id.lt(Bind(before)));
                if let Some(since) = filter.since {
                    query = query.filter(results::created_at.ge(Bind::<DateTime<Utc>>(since)));
                }
                if let Some(until) = filter.until {
                    query = query.filter(results::created_at.lt(Bind::<DateTime<Utc>>(until)));
                }
                let is_prism = results::prism_id.eq(Bind(prism));
                if let Some(reference) = filter.reference {
                    let reference = Some(reference.as_str().to_owned());
                    let query = query
                        .filter(is_prism)
                        .filter(results::reference.eq_any(vec![reference]));
                    return by!(query, order, results::reference);
                }
                if let Some(version) = filter.version {
                    let query = query
                        .filter(is_prism)
                        .filter(results::version.eq_any(vec![version.get()]));
                    return by!(query, order, results::version);
                }
                match filter.made_by {
                    Some(Maker::Key(key)) => {
                        let query = query
                            .filter(is_prism)
                            .filter(results::api_key_id.eq_any(vec![Some(key)]));
                        return by!(query, order, results::api_key_id);
                    }
                    Some(Maker::Person(person)) => {
                        let query = query
                            .filter(is_prism)
                            .filter(results::made_by.eq_any(vec![Some(person)]));
                        return by!(query, order, results::made_by);
                    }
                    Some(Maker::Terminal) => {
                        query = query
                            .filter(results::api_key_id.is_null())
                            .filter(results::made_by.is_null());
                    }
                    None => {}
                }
                // an index holds the results that have an error
                if filter.is_ok == Some(false) {
                    query = query.filter(results::error.is_not_null());
                }
                let query = query.filter(results::prism_id.eq_any(vec![Bind(prism)]));
                by!(query, order, results::prism_id)
            }
        }
    };
}

candidate_backend!(Pg);
candidate_backend!(Sqlite);
