//! The statement that adds up usage: one text for each set of dimensions and conditions.

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Integer, Nullable, Text};
use diesel::sqlite::Sqlite;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};

use crate::queries::counts::number_of;
use crate::queries::results::lists::ResultFilter;
use crate::queries::results::usage::scope::{UsageDimension, UsageScope};
use crate::schema::sql_types::{Id, Moment};

/// The sums of a group of results. A database adds up whole numbers exactly; PostgreSQL's sums are
/// of another type than their numbers.
pub(super) const SUMS: &str = "COUNT(*), COUNT(error), \
    CAST(COALESCE(SUM(model_requests), 0) AS BIGINT), \
    CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(cached_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT), \
    CAST(SUM(cost_nanos) AS BIGINT), \
    CAST(SUM(cost_attos) AS BIGINT)";

/// The sums of a group of rows about deleted results.
const SUMS_OF_DELETED: &str = "CAST(SUM(calls) AS BIGINT), \
    CAST(SUM(failed) AS BIGINT), \
    CAST(SUM(model_requests) AS BIGINT), \
    CAST(SUM(input_tokens) AS BIGINT), \
    CAST(SUM(cached_tokens) AS BIGINT), \
    CAST(SUM(output_tokens) AS BIGINT), \
    CAST(SUM(cost_nanos) AS BIGINT), \
    CAST(SUM(cost_attos) AS BIGINT)";

/// A database that usage is added up in.
pub(super) trait UsageBackend: Backend {
    /// The days from 1970 to the moment of saving, in UTC.
    const DAY: &'static str;
}

impl UsageBackend for Pg {
    const DAY: &'static str = "CAST(created_at AT TIME ZONE 'UTC' AS date) - DATE '1970-01-01'";
}

impl UsageBackend for Sqlite {
    const DAY: &'static str = "created_at / 86400000";
}

/// Adds up what an account's results used, then what its deleted results did.
pub(super) struct UsageStatement {
    account: AccountId,
    scope: UsageScope,
    /// The ids between which all results of the period are.
    between: (ResultId, ResultId),
    /// The days of the period, from the first on and before the second.
    days: (Option<i32>, Option<i32>),
}

impl UsageStatement {
    pub(super) fn new(account: AccountId, scope: UsageScope) -> Self {
        let period = ResultFilter {
            since: scope.since,
            until: scope.until,
            ..ResultFilter::default()
        };
        let day = |moment: DateTime<Utc>| moment.date_naive();
        let after = |until: DateTime<Utc>| {
            let last = day(until - TimeDelta::milliseconds(1));
            last.checked_add_days(Days::new(1))
                .unwrap_or(NaiveDate::MAX)
        };
        Self {
            account,
            between: period.ids(),
            days: (
                scope.since.map(day).map(number_of),
                scope.until.map(after).map(number_of),
            ),
            scope,
        }
    }

    /// The columns that are grouped by, with nulls for the others.
    fn columns(&self, day: &str) -> String {
        let columns = [
            (UsageDimension::Prism, "prism_id", "uuid"),
            (UsageDimension::Key, "api_key_id", "uuid"),
            (UsageDimension::Person, "made_by", "uuid"),
            (UsageDimension::Run, "file_run_id", "uuid"),
            (UsageDimension::Model, "model_name", "text"),
            (UsageDimension::Day, day, "integer"),
        ];
        let columns = columns.map(|(dimension, column, sql_type)| {
            if self.scope.by.contains(&dimension) {
                column.to_owned()
            } else {
                format!("CAST(NULL AS {sql_type})")
            }
        });
        columns.join(", ")
    }
}

impl<DB> QueryFragment<DB> for UsageStatement
where
    DB: UsageBackend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment>,
    AccountId: ToSql<Id, DB>,
    ApiKeyId: ToSql<Id, DB>,
    PrismId: ToSql<Id, DB>,
    ResultId: ToSql<Id, DB>,
    DateTime<Utc>: ToSql<Moment, DB>,
    i32: ToSql<Integer, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let (first, end) = &self.between;
        out.push_sql(&format!("SELECT {}, {SUMS}", self.columns(DB::DAY)));
        out.push_sql(" FROM results WHERE account_id = ");
        out.push_bind_param::<Id, _>(&self.account)?;
        out.push_sql(" AND id > ");
        out.push_bind_param::<Id, _>(first)?;
        out.push_sql(" AND id < ");
        out.push_bind_param::<Id, _>(end)?;
        if let Some(prism) = &self.scope.prism {
            out.push_sql(" AND prism_id = ");
            out.push_bind_param::<Id, _>(prism)?;
        }
        if let Some(key) = &self.scope.key {
            out.push_sql(" AND api_key_id = ");
            out.push_bind_param::<Id, _>(key)?;
        }
        if let Some(since) = &self.scope.since {
            out.push_sql(" AND created_at >= ");
            out.push_bind_param::<Moment, _>(since)?;
        }
        if let Some(until) = &self.scope.until {
            out.push_sql(" AND created_at < ");
            out.push_bind_param::<Moment, _>(until)?;
        }
        out.push_sql(" GROUP BY 1, 2, 3, 4, 5, 6 UNION ALL ");
        let columns = self.columns("day");
        out.push_sql(&format!("SELECT {columns}, {SUMS_OF_DELETED}"));
        out.push_sql(
            " FROM deleted_usage WHERE prism_id IN (SELECT id FROM prisms WHERE account_id = ",
        );
        out.push_bind_param::<Id, _>(&self.account)?;
        out.push_sql(")");
        if let Some(prism) = &self.scope.prism {
            out.push_sql(" AND prism_id = ");
            out.push_bind_param::<Id, _>(prism)?;
        }
        if let Some(key) = &self.scope.key {
            out.push_sql(" AND api_key_id = ");
            out.push_bind_param::<Id, _>(key)?;
        }
        let (first, end) = &self.days;
        if let Some(first) = first {
            out.push_sql(" AND day >= ");
            out.push_bind_param::<Integer, _>(first)?;
        }
        if let Some(end) = end {
            out.push_sql(" AND day < ");
            out.push_bind_param::<Integer, _>(end)?;
        }
        out.push_sql(" GROUP BY 1, 2, 3, 4, 5, 6");
        Ok(())
    }
}

impl QueryId for UsageStatement {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for UsageStatement {
    type SqlType = (
        Nullable<Id>,
        Nullable<Id>,
        Nullable<Id>,
        Nullable<Id>,
        Nullable<Text>,
        Nullable<Integer>,
        BigInt,
        BigInt,
        BigInt,
        BigInt,
        BigInt,
        BigInt,
        Nullable<BigInt>,
        Nullable<BigInt>,
    );
}

impl<C> RunQueryDsl<C> for UsageStatement {}
