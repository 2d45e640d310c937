//! What results used: calls, model requests, tokens and cost, added up by prism, key, model and day.
//!
//! One statement, for any number of results. A period is read by the ids in it.

use std::collections::BTreeSet;

use chrono::{DateTime, NaiveDate, Utc};
use diesel::backend::{Backend, DieselReserveSpecialization};
use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{BigInt, HasSqlType, Integer, Nullable, Text};
use diesel::sqlite::Sqlite;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use refract_domain::result::cost::Cost;

use crate::connections::{CUSTOM_PLAN, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::lists::ResultFilter;
use crate::queries::results::provenance::saved_cost;
use crate::schema::sql_types::{Id, Moment};

/// The sums of a group. A database adds up whole numbers exactly; PostgreSQL's sums are of another
/// type than their numbers.
const SUMS: &str = "COUNT(*), COUNT(error), \
    CAST(COALESCE(SUM(model_requests), 0) AS BIGINT), \
    CAST(COALESCE(SUM(input_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(cached_tokens), 0) AS BIGINT), \
    CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT), \
    CAST(SUM(cost_nanos) AS BIGINT), \
    CAST(SUM(cost_attos) AS BIGINT)";

/// What usage can be grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UsageDimension {
    /// The prism that was asked.
    Prism,
    /// The API key that made the result.
    Key,
    /// The model, as its server reports it.
    Model,
    /// The day in UTC on which the result was saved.
    Day,
}

/// Which results are added up, and in which groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageScope {
    /// What to group by; without any, all results are one group.
    pub by: BTreeSet<UsageDimension>,
    /// Only results of this prism.
    pub prism: Option<PrismId>,
    /// Results from this moment on.
    pub since: Option<DateTime<Utc>>,
    /// Results before this moment.
    pub until: Option<DateTime<Utc>>,
}

/// What some results used. Results whose server did not report a number add nothing to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Number of results.
    pub calls: u64,
    /// Number of `failed` results among them.
    pub failed: u64,
    /// Requests to the model.
    pub model_requests: u64,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the server had in its cache.
    pub cached_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// The cost; `None` if no host reported one.
    pub cost: Option<Cost>,
}

/// The usage of the results that have the same prism, key, model and day, as far as they are
/// grouped by these.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageGroup {
    /// The prism; `None` if results are not grouped by it.
    pub prism: Option<PrismId>,
    /// The key; `None` also for results that no key made.
    pub api_key: Option<ApiKeyId>,
    /// The model; `None` also for results whose server did not name it.
    pub model: Option<String>,
    /// The day; `None` if results are not grouped by it.
    pub day: Option<NaiveDate>,
    /// The usage.
    pub usage: Usage,
}

impl Database {
    /// Adds up what an account's results used. Deleted results are not among them.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_usage(
        &self,
        account: AccountId,
        scope: UsageScope,
    ) -> Result<Vec<UsageGroup>, PersistenceError> {
        let query = UsageQuery::new(account, scope);
        let database = self.without_lanes();
        let reading = database.read(async move |mut connection| {
            let found: Vec<UsageColumns> = on!(connection, CUSTOM_PLAN, load(query))?;
            found.into_iter().map(TryFrom::try_from).collect()
        });
        reading.await
    }
}

/// The statement, with a text for each set of dimensions and conditions.
struct UsageQuery {
    account: AccountId,
    scope: UsageScope,
    /// The ids between which all results of the period are.
    between: (ResultId, ResultId),
}

impl UsageQuery {
    fn new(account: AccountId, scope: UsageScope) -> Self {
        let period = ResultFilter {
            since: scope.since,
            until: scope.until,
            ..ResultFilter::default()
        };
        Self {
            account,
            scope,
            between: period.ids(),
        }
    }

    /// The beginning of the statement: the columns that are grouped by, with nulls for the others.
    fn columns(&self, day: &str) -> String {
        let columns = [
            (UsageDimension::Prism, "prism_id", "uuid"),
            (UsageDimension::Key, "api_key_id", "uuid"),
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
        format!("SELECT {}, {SUMS} FROM results", columns.join(", "))
    }
}

/// A database that usage is added up in.
trait UsageBackend: Backend {
    /// The days from 1970 to the moment of saving, in UTC.
    const DAY: &'static str;
}

impl UsageBackend for Pg {
    const DAY: &'static str = "CAST(created_at AT TIME ZONE 'UTC' AS date) - DATE '1970-01-01'";
}

impl UsageBackend for Sqlite {
    const DAY: &'static str = "created_at / 86400000";
}

impl<DB> QueryFragment<DB> for UsageQuery
where
    DB: UsageBackend + DieselReserveSpecialization + HasSqlType<Id> + HasSqlType<Moment>,
    AccountId: ToSql<Id, DB>,
    PrismId: ToSql<Id, DB>,
    ResultId: ToSql<Id, DB>,
    DateTime<Utc>: ToSql<Moment, DB>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, DB>) -> QueryResult<()> {
        let (first, end) = &self.between;
        out.push_sql(&self.columns(DB::DAY));
        out.push_sql(" WHERE account_id = ");
        out.push_bind_param::<Id, _>(&self.account)?;
        out.push_sql(" AND id > ");
        out.push_bind_param::<Id, _>(first)?;
        out.push_sql(" AND id < ");
        out.push_bind_param::<Id, _>(end)?;
        if let Some(prism) = &self.scope.prism {
            out.push_sql(" AND prism_id = ");
            out.push_bind_param::<Id, _>(prism)?;
        }
        if let Some(since) = &self.scope.since {
            out.push_sql(" AND created_at >= ");
            out.push_bind_param::<Moment, _>(since)?;
        }
        if let Some(until) = &self.scope.until {
            out.push_sql(" AND created_at < ");
            out.push_bind_param::<Moment, _>(until)?;
        }
        out.push_sql(" GROUP BY 1, 2, 3, 4");
        Ok(())
    }
}

impl QueryId for UsageQuery {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl Query for UsageQuery {
    type SqlType = (
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

impl<C> RunQueryDsl<C> for UsageQuery {}

/// A row of the statement.
#[derive(Queryable)]
struct UsageColumns {
    prism: Option<PrismId>,
    api_key: Option<ApiKeyId>,
    model: Option<String>,
    day: Option<i32>,
    calls: i64,
    failed: i64,
    model_requests: i64,
    input_tokens: i64,
    cached_tokens: i64,
    output_tokens: i64,
    cost_nanos: Option<i64>,
    cost_attos: Option<i64>,
}

impl TryFrom<UsageColumns> for UsageGroup {
    type Error = PersistenceError;

    fn try_from(columns: UsageColumns) -> Result<Self, PersistenceError> {
        let column = "results.created_at";
        let day = columns.day.map(|day| {
            let day = NaiveDate::from_epoch_days(day);
            day.ok_or(PersistenceError::Unreadable { column })
        });
        // counts and sums of numbers that are never negative
        let whole = |sum| u64::try_from(sum).unwrap_or_default();
        Ok(Self {
            prism: columns.prism,
            api_key: columns.api_key,
            model: columns.model,
            day: day.transpose()?,
            usage: Usage {
                calls: whole(columns.calls),
                failed: whole(columns.failed),
                model_requests: whole(columns.model_requests),
                input_tokens: whole(columns.input_tokens),
                cached_tokens: whole(columns.cached_tokens),
                output_tokens: whole(columns.output_tokens),
                cost: saved_cost(columns.cost_nanos, columns.cost_attos)?,
            },
        })
    }
}
