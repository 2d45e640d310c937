//! Counts of results. Results up to a watermark are counted once and stored; later ones are counted
//! at each read.

use chrono::NaiveDate;
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable};
use diesel::upsert::excluded;
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use uuid::Uuid;

use crate::connections::{in_transaction, on, run};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::prisms::row::WriteOutcome;
use crate::schema::sql_types::{Bind, Id};
use crate::schema::{counted_results, result_counts, results};

/// The key in counts of results that no API key made: a column of a primary key cannot be null.
pub(crate) const NO_KEY: ApiKeyId = ApiKeyId::new(Uuid::nil());

/// Every stored count, and the watermarks up to which they count: one statement, so that both are
/// of one moment. Days before the first parameter are added up.
const KEPT: &str = "\
SELECT prisms.id AS prism, counted_results.up_to AS up_to, result_counts.api_key_id AS api_key,
    CASE WHEN result_counts.day >= $1 THEN result_counts.day END AS day,
    CAST(COALESCE(SUM(result_counts.ok), 0) AS BIGINT) AS ok,
    CAST(COALESCE(SUM(result_counts.failed), 0) AS BIGINT) AS failed
FROM prisms
LEFT JOIN counted_results ON counted_results.prism_id = prisms.id
LEFT JOIN result_counts ON result_counts.prism_id = prisms.id
WHERE prisms.account_id = $2
GROUP BY 1, 2, 3, 4";

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

/// Counts of a prism's results that are to be stored.
#[derive(Clone, Debug)]
pub struct NewCounts {
    /// The prism.
    pub prism: PrismId,
    /// The watermark as it was read.
    pub read_up_to: Option<ResultId>,
    /// The new watermark: an id that no result can have, chosen so that equivalent ids exist
    /// [beside](ResultId::beside) it.
    pub up_to: ResultId,
    /// The results between the two watermarks by day, one entry for each day and key.
    pub counts: Vec<(NaiveDate, KeyCount)>,
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

#[derive(Insertable)]
#[diesel(table_name = result_counts)]
struct CountColumns {
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    day: i32,
    #[diesel(serialize_as = Bind<ApiKeyId>)]
    api_key_id: ApiKeyId,
    ok: i64,
    failed: i64,
}

impl Database {
    /// Lists the stored counts of an account's prisms: by day from `since` on, and in total for all
    /// days before.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_kept_counts(
        &self,
        account: AccountId,
        since: NaiveDate,
    ) -> Result<Vec<KeptCounts>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = sql_query(KEPT)
                .bind::<Integer, _>(number_of(since))
                .bind::<Id, _>(Bind(account));
            let found: Vec<KeptColumns> = on!(connection, load(query))?;
            found.into_iter().map(KeptCounts::try_from).collect()
        })
        .await
    }

    /// The first result after the watermark, for each of the account's prisms that has one.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn list_first_uncounted(
        &self,
        account: AccountId,
    ) -> Result<Vec<(PrismId, ResultId)>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = sql_query(FIRST_UNCOUNTED)
                .bind::<Id, _>(Bind(ResultId::LOWEST))
                .bind::<Id, _>(Bind(account));
            let found: Vec<FirstColumns> = on!(connection, load(query))?;
            Ok(found.into_iter().map(|it| (it.prism, it.first)).collect())
        })
        .await
    }

    /// The first result of a prism after an id.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_first_result(
        &self,
        prism: PrismId,
        after: ResultId,
    ) -> Result<Option<ResultId>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = results::table
                // ordered like the prism's index: ordered by id alone, the planner would walk over
                // the results of other prisms
                .filter(results::prism_id.eq_any(vec![Bind(prism)]))
                .filter(results::id.gt(Bind(after)))
                .order((results::prism_id, results::id))
                .limit(1)
                .select(results::id);
            Ok(on!(connection, get_result(query)).optional()?)
        })
        .await
    }

    /// Counts the results of a prism after one id and up to another, by key.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count_results_by_key(
        &self,
        prism: PrismId,
        after: ResultId,
        up_to: ResultId,
    ) -> Result<Vec<KeyCount>, PersistenceError> {
        self.read(async move |mut connection| {
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
            let counted: Vec<(Option<ApiKeyId>, i64, i64)> = on!(connection, load(query))?;
            let counts = counted.into_iter().map(|(api_key, all, failed)| KeyCount {
                api_key,
                ok: whole(all - failed),
                failed: whole(failed),
            });
            Ok(counts.collect())
        })
        .await
    }

    /// Adds counts to the stored ones and moves the watermark, if the watermark has not changed
    /// since it was read, so that nothing is counted twice.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn keep_counts(&self, new: NewCounts) -> Result<WriteOutcome, PersistenceError> {
        let NewCounts {
            prism,
            read_up_to,
            up_to,
            counts,
        } = new;
        self.write(async move |mut connection| {
            let moved =
                in_transaction!(connection, |c| {
                    let moved = match read_up_to {
                        None => {
                            let insert = diesel::insert_into(counted_results::table).values((
                                counted_results::prism_id.eq(Bind(prism)),
                                counted_results::up_to.eq(Bind(up_to)),
                            ));
                            insert.on_conflict_do_nothing().execute(c).await?
                        }
                        Some(read) => {
                            let as_read = counted_results::table
                                .filter(counted_results::prism_id.eq(Bind(prism)))
                                .filter(counted_results::up_to.eq(Bind(read)));
                            diesel::update(as_read)
                                .set(counted_results::up_to.eq(Bind(up_to)))
                                .execute(c)
                                .await?
                        }
                    };
                    if moved == 1 {
                        for (day, count) in counts {
                            let added = CountColumns::new(prism, day, count);
                            run!(
                                c,
                                diesel::insert_into(result_counts::table)
                                    .values(added)
                                    .on_conflict((
                                        result_counts::prism_id,
                                        result_counts::day,
                                        result_counts::api_key_id,
                                    ))
                                    .do_update()
                                    .set((
                                        result_counts::ok
                                            .eq(result_counts::ok + excluded(result_counts::ok)),
                                        result_counts::failed
                                            .eq(result_counts::failed
                                                + excluded(result_counts::failed)),
                                    ))
                            );
                        }
                    }
                    QueryResult::Ok(moved)
                })?;
            Ok(WriteOutcome::of(moved == 1))
        })
        .await
    }
}

impl CountColumns {
    fn new(prism: PrismId, day: NaiveDate, count: KeyCount) -> Self {
        Self {
            prism_id: prism,
            day: number_of(day),
            api_key_id: count.api_key.unwrap_or(NO_KEY),
            ok: i64::try_from(count.ok).unwrap_or(i64::MAX),
            failed: i64::try_from(count.failed).unwrap_or(i64::MAX),
        }
    }
}

impl TryFrom<KeptColumns> for KeptCounts {
    type Error = PersistenceError;

    fn try_from(columns: KeptColumns) -> Result<Self, PersistenceError> {
        let column = "result_counts.day";
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
