//! The ledger: what results used and how they answered, each result counted once.
//!
//! | table | has | its watermark, in `counted_results` |
//! |---|---|---|
//! | `usage_days` | what results used, by day; deleted ones are among them | `up_to` |
//! | `deleted_usage` | what deleted results used | |
//! | `watch_hours` | how results answered, by hour | `watched_to` |
//!
//! A watermark is the id up to which a prism's results are counted; later ones are counted at each
//! read. There are two, since one must not miss a result that is saved late, and the other must not
//! be far from the present.

pub(super) mod hours;
pub(super) mod usage;

use chrono::NaiveDate;
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{BigInt, Integer, Nullable, Text};
use refract_boxed_futures::boxed;
use refract_domain::event::EventAction;
use refract_domain::ids::{AccountId, ApiKeyId, PrismId, ResultId};
use uuid::Uuid;

use crate::connections::{Transaction, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::ledger::usage::sums::{AddUsage, AddedResults, UsageTable};
use crate::schema::sql_types::{Bind, Id};
use crate::schema::{counted_results, results};

/// The ids up to which a prism's results are counted.
#[derive(Queryable)]
pub(crate) struct Watermarks {
    /// By day; the lowest before any are.
    pub(crate) counted: ResultId,
    /// By hour; `None` before any are.
    pub(crate) watched: Option<ResultId>,
}

/// Locks the watermarks of a prism until the transaction ends, and returns them.
pub(crate) async fn lock_watermarks(
    tx: &mut Transaction,
    prism: PrismId,
) -> QueryResult<Watermarks> {
    let first = diesel::insert_into(counted_results::table).values((
        counted_results::prism_id.eq(Bind(prism)),
        counted_results::up_to.eq(Bind(ResultId::LOWEST)),
    ));
    on!(tx, execute(first.on_conflict_do_nothing()))?;
    let watermarks = counted_results::table
        .find(Bind(prism))
        .select((counted_results::up_to, counted_results::watched_to));
    on!(tx, get_result(for_update(watermarks)))
}

/// How far a prism's results are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountProgress {
    /// Results are left.
    More,
    /// All results up to the id are counted.
    Done,
}

#[boxed]
impl Database {
    /// Counts the next results of a prism up to an id, at most `most`. One transaction: it locks the
    /// watermark before it reads results, as a deletion does, so that each result is counted once.
    ///
    /// The watermark moves to the last of these results, not to the id: when that is of a clock which
    /// was ahead, later results have lower ids.
    ///
    /// # Errors
    /// When the database fails. Nothing was counted then.
    pub async fn count_next_results(
        &self,
        prism: PrismId,
        up_to: ResultId,
        most: u32,
    ) -> Result<CountProgress, PersistenceError> {
        self.begin(async move |mut tx| {
            let after = lock_watermarks(&mut tx, prism).await?.counted;
            let next = results::table
                .filter(results::prism_id.eq_any(vec![Bind(prism)]))
                .filter(results::id.gt(Bind(after)))
                .filter(results::id.le(Bind(up_to)))
                .select(results::id);
            // ordered like the prism's index, as in `find_first_result`
            let of_page = next.clone().order((results::prism_id, results::id));
            let of_page = of_page.offset(i64::from(most.max(1)) - 1).limit(1);
            let of_page: Option<ResultId> = on!(tx, get_result(of_page)).optional()?;
            let of_all = next.order((results::prism_id.desc(), results::id.desc()));
            let last = match of_page {
                None => on!(tx, get_result(of_all.limit(1))).optional()?,
                last => last,
            };
            if let Some(last) = last {
                let counted = AddedResults::Between(prism, after, last);
                on!(tx, execute(AddUsage::to(UsageTable::Days, counted)))?;
                let update = diesel::update(counted_results::table.find(Bind(prism)))
                    .set(counted_results::up_to.eq(Bind(last)));
                on!(tx, execute(update))?;
            }
            tx.commit().await?;
            Ok(match of_page {
                Some(_) => CountProgress::More,
                None => CountProgress::Done,
            })
        })
        .await
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watermark {
    /// Results by day, with what they used.
    Counted,
    /// Answers by hour.
    Watched,
}

/// A prism with results that are not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct UncountedPrism {
    /// The prism.
    #[diesel(sql_type = Id)]
    pub prism: PrismId,
    /// The prism's account.
    #[diesel(sql_type = Id)]
    pub account: AccountId,
    /// The first of the results.
    #[diesel(sql_type = Id)]
    pub first: ResultId,
}

impl Watermark {
    /// The first uncounted result of each of some prisms: the next one in the index by prism and id.
    /// By id alone, the planner would walk over the results of other prisms. The first parameter is
    /// the id after which they are counted without a watermark; conditions on `first` may follow.
    fn first_uncounted(self, of_prisms: &str) -> String {
        let watermark = match self {
            Self::Counted => "up_to",
            Self::Watched => "watched_to",
        };
        format!(
            "SELECT prism, account, first FROM (
                SELECT prisms.id AS prism, prisms.account_id AS account, (
                    SELECT CASE WHEN results.prism_id = prisms.id THEN results.id END FROM results
                    WHERE (results.prism_id, results.id) > (prisms.id, COALESCE({watermark}, $1))
                    ORDER BY results.prism_id, results.id
                    LIMIT 1
                ) AS first
                FROM prisms
                LEFT JOIN counted_results ON counted_results.prism_id = prisms.id
                WHERE {of_prisms}
            ) AS firsts
            WHERE first IS NOT NULL"
        )
    }
}

/// Prisms of accounts that are not being imported: there, results come after their watermarks.
const NOT_IMPORTING: &str = "(NOT EXISTS (
        SELECT 1 FROM events WHERE events.account_id = prisms.account_id AND events.action = $2
    ) OR EXISTS (
        SELECT 1 FROM events WHERE events.account_id = prisms.account_id AND events.action = $3
    ))";

#[boxed]
impl Database {
    /// The first result after the watermark, for each of the account's prisms that has one.
    pub async fn list_first_uncounted(
        &self,
        account: AccountId,
    ) -> Result<Vec<(PrismId, ResultId)>, PersistenceError> {
        let query = sql_query(Watermark::Counted.first_uncounted("prisms.account_id = $2"))
            .bind::<Id, _>(Bind(ResultId::LOWEST))
            .bind::<Id, _>(Bind(account));
        let found: Vec<UncountedPrism> = self.load(query).await?;
        Ok(found.into_iter().map(|it| (it.prism, it.first)).collect())
    }

    /// The prisms of all accounts that have a result after their watermark, or after `from` without
    /// one, and up to `up_to`. Accounts that are being imported have none.
    pub async fn list_uncounted_prisms(
        &self,
        watermark: Watermark,
        from: ResultId,
        up_to: ResultId,
    ) -> Result<Vec<UncountedPrism>, PersistenceError> {
        let of_all = watermark.first_uncounted(NOT_IMPORTING);
        let query = sql_query(format!("{of_all} AND first <= $4"))
            .bind::<Id, _>(Bind(from))
            .bind::<Text, _>(EventAction::AccountImportStarted.name())
            .bind::<Text, _>(EventAction::AccountImported.name())
            .bind::<Id, _>(Bind(up_to));
        self.load(query).await
    }
}

/// The stored counts of results that were not deleted, and the watermarks up to which they count: one
/// statement, so that both are of one moment. Days before the second parameter are added up.
const KEPT: &str = "\
SELECT prisms.id AS prism, counted_results.up_to AS up_to,
    NULLIF(sums.api_key_id, $1) AS api_key,
    sums.day AS day,
    COALESCE(sums.calls - sums.failed, 0) AS ok,
    COALESCE(sums.failed, 0) AS failed
FROM prisms
LEFT JOIN counted_results ON counted_results.prism_id = prisms.id
LEFT JOIN (
    SELECT prism_id, api_key_id, CASE WHEN day >= $2 THEN day END AS day,
        CAST(SUM(calls) AS BIGINT) AS calls, CAST(SUM(failed) AS BIGINT) AS failed
    FROM (
        SELECT prism_id, api_key_id, day, calls, failed FROM usage_days
        UNION ALL
        SELECT prism_id, api_key_id, day, -calls, -failed FROM deleted_usage
    ) AS parts
    WHERE prism_id IN (SELECT id FROM prisms WHERE account_id = $3)
    GROUP BY 1, 2, 3
    HAVING SUM(calls) > 0
) AS sums ON sums.prism_id = prisms.id
WHERE prisms.account_id = $4";

/// Stored counts of a prism's results; a prism without counts has one row of zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct KeptCounts {
    /// The prism.
    #[diesel(sql_type = Id)]
    pub prism: PrismId,
    /// The watermark: results with ids up to this one are counted; `None` when nothing was counted
    /// yet.
    #[diesel(sql_type = Nullable<Id>)]
    pub up_to: Option<ResultId>,
    /// Whole days from 1970 to the day in UTC; `None` for the total of all days before the requested
    /// ones.
    #[diesel(sql_type = Nullable<Integer>)]
    pub day: Option<i32>,
    /// The counts of one key's results.
    #[diesel(embed)]
    pub count: KeyCount,
}

/// A number of results of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, QueryableByName)]
pub struct KeyCount {
    /// The key that made the results; `None` for results that no key made.
    #[diesel(sql_type = Nullable<Id>)]
    pub api_key: Option<ApiKeyId>,
    /// Number of `ok` results.
    #[diesel(sql_type = BigInt, deserialize_as = WholeCount)]
    pub ok: u64,
    /// Number of `failed` results.
    #[diesel(sql_type = BigInt, deserialize_as = WholeCount)]
    pub failed: u64,
}

/// A count from SQL, which is never negative.
#[derive(FromSqlRow)]
struct WholeCount(i64);

impl<DB: Backend> FromSql<BigInt, DB> for WholeCount
where
    i64: FromSql<BigInt, DB>,
{
    fn from_sql(bytes: DB::RawValue<'_>) -> deserialize::Result<Self> {
        i64::from_sql(bytes).map(Self)
    }
}

impl From<WholeCount> for u64 {
    fn from(WholeCount(count): WholeCount) -> Self {
        Self::try_from(count).unwrap_or_default()
    }
}

#[boxed]
impl Database {
    /// Lists the stored counts of an account's prisms: by day from `since` on, and in total for all
    /// days before.
    pub async fn list_kept_counts(
        &self,
        account: AccountId,
        since: NaiveDate,
    ) -> Result<Vec<KeptCounts>, PersistenceError> {
        let query = sql_query(KEPT)
            .bind::<Id, _>(Bind(ApiKeyId::new(Uuid::nil())))
            .bind::<Integer, _>(since.to_epoch_days())
            .bind::<Id, _>(Bind(account))
            .bind::<Id, _>(Bind(account));
        self.load(query).await
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
            ok: WholeCount(all - failed).into(),
            failed: WholeCount(failed).into(),
        });
        Ok(counts.collect())
    }
}
