//! What results used: calls, model requests, tokens and cost, added up by prism, key, person, file
//! run, model and day.
//!
//! Counted results are read as sums of whole days in UTC, so that millions cost nothing; the others,
//! and parts of days, one by one. Deleted results are in the sums too.

mod scope;
mod statement;
pub(crate) mod sums;

use refract_boxed_futures::boxed;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ops::AddAssign;

use chrono::{NaiveDate, NaiveTime};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Nullable};
use refract_domain::ids::{AccountId, ApiKeyId, FileRunId, PersonId, PrismId, ResultId};
use refract_domain::result::Cost;

pub use self::scope::{UsageDimension, UsageScope};
use crate::connections::{CUSTOM_PLAN, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::ledger::usage::statement::UsageStatement;
use crate::queries::results::saved_cost;
use crate::schema::results;
use crate::schema::sql_types::{Bind, Id};
use crate::schema::stored::{NamedColumn, Stored};

/// What some results used. Results whose server did not report a number add nothing to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Queryable)]
pub struct Usage {
    /// Number of results.
    #[diesel(deserialize_as = i64)]
    pub calls: u64,
    /// Number of `failed` results among them.
    #[diesel(deserialize_as = i64)]
    pub failed: u64,
    /// Requests to the model.
    #[diesel(deserialize_as = i64)]
    pub model_requests: u64,
    /// Tokens that the model read.
    #[diesel(deserialize_as = i64)]
    pub input_tokens: u64,
    /// Tokens that the server had in its cache.
    #[diesel(deserialize_as = i64)]
    pub cached_tokens: u64,
    /// Tokens that the model wrote.
    #[diesel(deserialize_as = i64)]
    pub output_tokens: u64,
    /// The cost; `None` if no host reported one.
    #[diesel(deserialize_as = Stored<(results::cost_nanos, results::cost_attos)>)]
    pub cost: Option<Cost>,
}

impl Usage {
    /// The whole numbers in the order of the fields.
    pub fn counts(&self) -> [u64; 6] {
        [
            self.calls,
            self.failed,
            self.model_requests,
            self.input_tokens,
            self.cached_tokens,
            self.output_tokens,
        ]
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let Self {
            calls,
            failed,
            model_requests,
            input_tokens,
            cached_tokens,
            output_tokens,
            cost,
        } = self;
        *calls += other.calls;
        *failed += other.failed;
        *model_requests += other.model_requests;
        *input_tokens += other.input_tokens;
        *cached_tokens += other.cached_tokens;
        *output_tokens += other.output_tokens;
        *cost = match (*cost, other.cost) {
            (Some(one), Some(another)) => Some([one, another].into_iter().sum()),
            (one, another) => one.or(another),
        };
    }
}

/// The usage of the results that have the same prism, key, person, file run, model and day, as far as
/// they are grouped by these.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct UsageGroup {
    /// The prism; `None` if results are not grouped by it.
    pub prism: Option<PrismId>,
    /// The key; `None` also for results that no key made.
    pub api_key: Option<ApiKeyId>,
    /// The person; `None` also for results that no person made.
    pub person: Option<PersonId>,
    /// The file run; `None` also for results outside of one.
    pub file_run: Option<FileRunId>,
    /// The model; `None` also for results whose server did not name it.
    pub model: Option<String>,
    /// The day; `None` if results are not grouped by it.
    #[diesel(deserialize_as = Stored<UsageDay>)]
    pub day: Option<NaiveDate>,
    /// The usage.
    pub usage: Usage,
}

#[boxed]
impl Database {
    /// Adds up what an account's results used, deleted ones among them. Two queries.
    pub async fn list_usage(
        &self,
        account: AccountId,
        scope: UsageScope,
    ) -> Result<Vec<UsageGroup>, PersistenceError> {
        self.usage_up_to(account, scope, ResultId::HIGHEST).await
    }

    /// Adds up what an account's results from a day on cost, deleted ones among them; of results that
    /// are not in the stored sums only those up to an id. Two queries.
    pub async fn count_cost_since(
        &self,
        account: AccountId,
        since: NaiveDate,
        up_to: ResultId,
    ) -> Result<CountedCost, PersistenceError> {
        let scope = UsageScope {
            since: Some(since.and_time(NaiveTime::MIN).and_utc()),
            ..UsageScope::default()
        };
        let groups = self.usage_up_to(account, scope, up_to).await?;
        let cost = groups.iter().filter_map(|group| group.usage.cost).sum();
        Ok(CountedCost { since, up_to, cost })
    }

    /// Adds the cost of an account's newer results to a cost.
    pub async fn add_open_cost(
        &self,
        account: AccountId,
        counted: CountedCost,
    ) -> Result<Cost, PersistenceError> {
        let database = self.without_lanes();
        let reading = database.read(async move |mut connection| {
            let query = sql_query(OPEN_COST)
                .bind::<Id, _>(Bind(account))
                .bind::<Id, _>(Bind(counted.up_to));
            let open: OpenCost = on!(connection, CUSTOM_PLAN, get_result(query))?;
            counted.with(&open)
        });
        reading.await
    }

    async fn usage_up_to(
        &self,
        account: AccountId,
        scope: UsageScope,
        up_to: ResultId,
    ) -> Result<Vec<UsageGroup>, PersistenceError> {
        let database = self.without_lanes();
        let uncounted = database.list_first_uncounted(account).await?.into_iter();
        let uncounted =
            uncounted.filter(|(prism, _)| scope.prism.is_none_or(|only| only == *prism));
        let first = uncounted.map(|(_, first)| first).min();
        let query = UsageStatement::new(account, scope, first.map(|first| (first, up_to)));
        let reading = database.read(async move |mut connection| {
            let found: Vec<UsageGroup> = on!(connection, CUSTOM_PLAN, load(query))?;
            Ok(merged(found))
        });
        reading.await
    }
}

/// What an account's results from a day on cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountedCost {
    /// The day in UTC.
    pub since: NaiveDate,
    /// The results have ids up to this one.
    pub up_to: ResultId,
    /// The cost.
    pub cost: Cost,
}

impl CountedCost {
    pub(crate) fn with(self, open: &OpenCost) -> Result<Cost, PersistenceError> {
        let open = saved_cost(open.nanos, open.attos)?;
        Ok([self.cost, open.unwrap_or_default()].into_iter().sum())
    }
}

/// The cost of an account's results after an id. A host that reports no cost adds nothing.
pub(crate) const OPEN_COST: &str = "\
SELECT CAST(SUM(cost_nanos) AS BIGINT) AS nanos, CAST(SUM(cost_attos) AS BIGINT) AS attos
FROM results WHERE account_id = $1 AND id > $2";

/// The sum of some costs; null for none.
#[derive(QueryableByName)]
pub(crate) struct OpenCost {
    #[diesel(sql_type = Nullable<BigInt>)]
    nanos: Option<i64>,
    #[diesel(sql_type = Nullable<BigInt>)]
    attos: Option<i64>,
}

/// Whole days from 1970 to a day in UTC.
pub struct UsageDay;

impl NamedColumn for UsageDay {
    const NAME: &'static str = "usage_days.day";
    type Form = Option<i32>;
}

/// Adds up the groups that are about the same results.
fn merged(groups: Vec<UsageGroup>) -> Vec<UsageGroup> {
    let mut by_key = BTreeMap::new();
    for group in groups {
        let key = (
            (group.prism, group.api_key, group.person, group.file_run),
            (group.model.clone(), group.day),
        );
        match by_key.entry(key) {
            Entry::Vacant(entry) => {
                entry.insert(group);
            }
            Entry::Occupied(mut entry) => entry.get_mut().usage += group.usage,
        }
    }
    by_key.into_values().collect()
}
