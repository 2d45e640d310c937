//! Counts of results. Results up to a watermark are counted once and stored; later ones are counted
//! at each read.

mod count_results;

use chrono::NaiveDate;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable};
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use uuid::Uuid;

pub(crate) use self::count_results::lock_watermark;
pub use self::count_results::{CountProgress, UncountedPrism, Watermark};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::results;
use crate::schema::sql_types::{Bind, Id};

/// The key in counts of results that no API key made: a column of a primary key cannot be null.
pub(crate) const NO_KEY: ApiKeyId = ApiKeyId::new(Uuid::nil());

/// The stored counts of results that were not deleted, and the watermarks up to which they count: one
/// statement, so that both are of one moment. Days before the first parameter are added up.
const KEPT: &str = "\
SELECT prisms.id AS prism, counted_results.up_to AS up_to, sums.api_key_id AS api_key,
    sums.day AS day,
    COALESCE(sums.calls - sums.failed, 0) AS ok,
    COALESCE(sums.failed, 0) AS failed
FROM prisms
LEFT JOIN counted_results ON counted_results.prism_id = prisms.id
LEFT JOIN (
    SELECT prism_id, api_key_id, CASE WHEN day >= $1 THEN day END AS day,
        CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(failed) AS BIGINT) AS failed
    FROM (
        SELECT prism_id, api_key_id, day, calls, failed FROM usage_days
        UNION ALL
        SELECT prism_id, api_key_id, day, -calls, -failed FROM deleted_usage
    ) AS parts
    WHERE prism_id IN (SELECT id FROM prisms WHERE account_id = $2)
    GROUP BY 1, 2, 3
    HAVING SUM(calls) > 0
) AS sums ON sums.prism_id = prisms.id
WHERE prisms.account_id = $3";

/// The first uncounted result of each prism: the next one in the index by prism and id. By id
/// alone, the planner would walk over the results of other prisms.
const FIRST_UNCOUNTED: &str = "\
SELECT prism, first FROM (
    SELECT prisms.id AS prism, (
        SELECT CASE WHEN results.prism_id = prisms.id THEN results.id END FROM results
        WHERE (results.prism_id, results.id) > (prisms.id, COALESCE(counted_results.up_to, $1))
        ORDER BY results.prism_id, results.id
        LIMIT 1
    ) AS first
    FROM prisms
    LEFT JOIN counted_results ON counted_results.prism_id = prisms.id
    WHERE prisms.account_id = $2
) AS firsts
WHERE first IS NOT NULL";

/// Stored counts of a prism's results; a prism without counts has one row of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeptCounts {
    /// The prism.
    pub prism: PrismId,
    /// The watermark: results with ids up to this one are counted; `None` when nothing was counted
    /// yet.
    pub up_to: Option<ResultId>,
    /// The day in UTC; `None` for the total of all days before the requested ones.
    pub day: Option<NaiveDate>,
    /// The counts of one key's results.
    pub count: KeyCount,
}

/// A number of results of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyCount {
    /// The key that made the results; `None` for results that no key made.
    pub api_key: Option<ApiKeyId>,
    /// Number of `ok` results.
    pub ok: u64,
    /// Number of `failed` results.
    pub failed: u64,
}

#[derive(QueryableByName)]
struct KeptColumns {
    #[diesel(sql_type = Id)]
    prism: PrismId,
    #[diesel(sql_type = Nullable<Id>)]
    up_to: Option<ResultId>,
    #[diesel(sql_type = Nullable<Id>)]
    api_key: Option<ApiKeyId>,
    #[diesel(sql_type = Nullable<Integer>)]
    day: Option<i32>,
    #[diesel(sql_type = BigInt)]
    ok: i64,
    #[diesel(sql_type = BigInt)]
    failed: i64,
}

#[derive(QueryableByName)]
struct FirstColumns {
    #[diesel(sql_type = Id)]
    prism: PrismId,
    #[diesel(sql_type = Id)]
    first: ResultId,
}

impl Database {
    /// Lists the stored counts of an account's prisms: by day from `since` on, and in total for all
    /// days before.
    pub async fn list_kept_counts(
        &self,
        account: AccountId,
        since: NaiveDate,
    ) -> Result<Vec<KeptCounts>, PersistenceError> {
        let query = sql_query(KEPT)
            .bind::<Integer, _>(number_of(since))
            .bind::<Id, _>(Bind(account))
            .bind::<Id, _>(Bind(account));
        let found: Vec<KeptColumns> = self.load(query).await?;
        found.into_iter().map(KeptCounts::try_from).collect()
    }

    /// The first result after the watermark, for each of the account's prisms that has one.
    pub async fn list_first_uncounted(
        &self,
        account: AccountId,
    ) -> Result<Vec<(PrismId, ResultId)>, PersistenceError> {
        let query = sql_query(FIRST_UNCOUNTED)
            .bind::<Id, _>(Bind(ResultId::LOWEST))
            .bind::<Id, _>(Bind(account));
        let found: Vec<FirstColumns> = self.load(query).await?;
        Ok(found.into_iter().map(|it| (it.prism, it.first)).collect())
    }

    /// The first result of a prism after an id.
    pub async fn find_first_result(
        &self,
        prism: PrismId,
        after: ResultId,
    ) -> Result<Option<ResultId>, PersistenceError> {
        let query = results::table
            // ordered like the prism's index: ordered by id alone, the planner would walk over
            // the results of other prisms
            .filter(results::prism_id.eq_any(vec![Bind(prism)]))
            .filter(results::id.gt(Bind(after)))
            .order((results::prism_id, results::id))
            .limit(1)
            .select(results::id);
        self.find(query).await
    }

    /// Counts the results of a prism after one id and up to another, by key.
    pub async fn count_results_by_key(
        &self,
        prism: PrismId,
        after: ResultId,
        up_to: ResultId,
    ) -> Result<Vec<KeyCount>, PersistenceError> {
        let query = results::table
            .filter(results::prism_id.eq(Bind(prism)))
            .filter(results::id.gt(Bind(after)))
            .filter(results::id.le(Bind(up_to)))
            .group_by(results::api_key_id)
            .select((
                results::api_key_id,
                diesel::dsl::count_star(),
                diesel::dsl::count(results::error),
            ));
        let counted: Vec<(Option<ApiKeyId>, i64, i64)> = self.load(query).await?;
        let counts = counted.into_iter().map(|(api_key, all, failed)| KeyCount {
            api_key,
            ok: whole(all - failed),
            failed: whole(failed),
        });
        Ok(counts.collect())
    }
}

impl TryFrom<KeptColumns> for KeptCounts {
    type Error = PersistenceError;

    fn try_from(columns: KeptColumns) -> Result<Self, PersistenceError> {
        let column = "usage_days.day";
        let day = columns.day.map(|day| {
            let day = NaiveDate::from_epoch_days(day);
            day.ok_or(PersistenceError::Unreadable { column })
        });
        Ok(Self {
            prism: columns.prism,
            up_to: columns.up_to,
            day: day.transpose()?,
            count: KeyCount {
                api_key: columns.api_key.filter(|key| *key != NO_KEY),
                ok: whole(columns.ok),
                failed: whole(columns.failed),
            },
        })
    }
}

/// A day as it is stored: whole days since 1970.
pub(crate) fn number_of(day: NaiveDate) -> i32 {
    day.to_epoch_days()
}

/// Converts a count from SQL, which is never negative.
fn whole(count: i64) -> u64 {
    u64::try_from(count).unwrap_or_default()
}
