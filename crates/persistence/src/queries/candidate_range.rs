//! The statement that finds the candidates of a search, in a shape that leaves the planner one index.
//!
//! With a `LIMIT`, PostgreSQL's planner takes any index in the right order, and hopes to meet enough
//! results on the way: for the results of version 1 it would walk over a million newer ones of
//! version 2. So a statement is in the order of what it searches for and then of ids, which only the
//! index that begins with it has. The value is compared as the one element of an array, since a
//! planner drops a column that equals a constant from the order.

use chrono::{DateTime, Utc};
use diesel::backend::Backend;
use diesel::dsl::sql;
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Integer};
use diesel::sqlite::Sqlite;
use refract_domain::ids::{AccountId, PrismId, ResultId};
use refract_domain::maker::Maker;
use refract_domain::prism::VersionNumber;

use crate::queries::result_filter::ResultFilter;
use crate::queries::result_lists::ResultOrder;
use crate::schema::results;
use crate::schema::sql_types::{Bind, Id};

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

/// A condition on a column whose value PostgreSQL's planner does not take for a constant.
macro_rules! is_one_of {
    ($column:path, $value:expr) => {
        $column.eq_any(vec![$value])
    };
}

/// A condition on a column. The index of results that have a value is the only one with it.
macro_rules! is_equal {
    ($column:path, $value:expr) => {
        $column.eq($value)
    };
}

/// The results of a prism that a version answered, between two ids.
///
/// SQLite takes the index of a prism's ids for as good as that of its versions where both are
/// compared one column at a time. Compared as a row, only the latter fits.
fn of_version(
    query: results::BoxedQuery<'static, Sqlite>,
    range: &CandidateRange,
    version: VersionNumber,
) -> results::BoxedQuery<'static, Sqlite> {
    let is_beyond = |comparison: &str, id| {
        sql::<Bool>(&format!(
            "(results.version, results.prism_id, results.id) {comparison} ("
        ))
        .bind::<Integer, _>(version.get())
        .sql(", ")
        .bind::<Id, _>(Bind(range.prism))
        .sql(", ")
        .bind::<Id, _>(Bind(id))
        .sql(")")
    };
    let query = query
        .filter(is_beyond(">", range.after))
        .filter(is_beyond("<", range.before));
    match range.order {
        ResultOrder::OldestFirst => query.order((results::version, results::prism_id, results::id)),
        ResultOrder::NewestFirst => query.order((
            results::version.desc(),
            results::prism_id.desc(),
            results::id.desc(),
        )),
    }
}

/// As for SQLite, without the row: on PostgreSQL the order decides.
macro_rules! of_version_postgres {
    ($query:expr, $range:expr, $version:expr) => {{
        let query = $query
            .filter(results::id.gt(Bind($range.after)))
            .filter(results::id.lt(Bind($range.before)))
            .filter(results::prism_id.eq(Bind($range.prism)))
            .filter(is_one_of!(results::version, $version.get()));
        by!(query, $range.order, results::version)
    }};
}

macro_rules! of_version_sqlite {
    ($query:expr, $range:expr, $version:expr) => {
        of_version($query, &$range, $version)
    };
}

macro_rules! candidate_backend {
    ($backend:ty, $is:ident, $of_version:ident) => {
        impl CandidateBackend for $backend {
            fn query(range: CandidateRange) -> results::BoxedQuery<'static, Self> {
                let filter = range.filter.clone();
                let (prism, order) = (range.prism, range.order);
                let mut query = QueryDsl::into_boxed::<$backend>(results::table)
                    .filter(results::account_id.eq(Bind(range.account)));
                if let Some(since) = filter.since {
                    query = query.filter(results::created_at.ge(Bind::<DateTime<Utc>>(since)));
                }
                if let Some(until) = filter.until {
                    query = query.filter(results::created_at.lt(Bind::<DateTime<Utc>>(until)));
                }
                if let Some(version) = filter.version {
                    return $of_version!(query, range, version);
                }
                query = query
                    .filter(results::id.gt(Bind(range.after)))
                    .filter(results::id.lt(Bind(range.before)));
                let is_prism = results::prism_id.eq(Bind(prism));
                if let Some(reference) = filter.reference {
                    let reference = Some(reference.as_str().to_owned());
                    let query = query
                        .filter(is_prism)
                        .filter($is!(results::reference, reference));
                    return by!(query, order, results::reference);
                }
                match filter.made_by {
                    Some(Maker::Key(key)) => {
                        let query = query
                            .filter(is_prism)
                            .filter($is!(results::api_key_id, Some(key)));
                        return by!(query, order, results::api_key_id);
                    }
                    Some(Maker::Person(person)) => {
                        let query = query
                            .filter(is_prism)
                            .filter($is!(results::made_by, Some(person)));
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
                let query = query.filter($is!(results::prism_id, Bind(prism)));
                by!(query, order, results::prism_id)
            }
        }
    };
}

candidate_backend!(Pg, is_one_of, of_version_postgres);
candidate_backend!(Sqlite, is_equal, of_version_sqlite);
