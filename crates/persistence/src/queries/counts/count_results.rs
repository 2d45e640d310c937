//! Counts results once, of the prisms whose results are not all counted: adds what they used to the
//! stored sums, and moves the watermark.

use diesel::prelude::*;
use diesel::sql_query;
use diesel::sql_types::{Nullable, Text};
use refract_domain::event::EventAction;
use refract_domain::ids::{AccountId, PrismId, ResultId};

use crate::connections::{Transaction, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::usage::{AddUsage, AddedResults, UsageTable};
use crate::schema::sql_types::{Bind, Id};
use crate::schema::{counted_results, results};

/// Locks the watermark of a prism until the transaction ends, and returns it: results with ids up to
/// it are counted. A prism without one gets the lowest.
pub(crate) async fn lock_watermark(tx: &mut Transaction, prism: PrismId) -> QueryResult<ResultId> {
    let first = diesel::insert_into(counted_results::table).values((
        counted_results::prism_id.eq(Bind(prism)),
        counted_results::up_to.eq(Bind(ResultId::LOWEST)),
    ));
    on!(tx, execute(first.on_conflict_do_nothing()))?;
    let watermark = counted_results::table.find(Bind(prism));
    on!(
        tx,
        get_result(for_update(watermark.select(counted_results::up_to)))
    )
}

/// How far a prism's results are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountProgress {
    /// Results are left.
    More,
    /// All results up to the id are counted.
    Done,
}

impl Database {
    /// Counts the next results of a prism up to an id, at most `most`. One transaction: it locks the
    /// watermark before it reads results, as a deletion does, so that each result is counted once.
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
            let after = lock_watermark(&mut tx, prism).await?;
            let next = results::table
                // ordered like the prism's index, as in `find_first_result`
                .filter(results::prism_id.eq_any(vec![Bind(prism)]))
                .filter(results::id.gt(Bind(after)))
                .filter(results::id.le(Bind(up_to)))
                .order((results::prism_id, results::id))
                .select(results::id);
            let last = next.offset(i64::from(most.max(1)) - 1).limit(1);
            let last: Option<ResultId> = on!(tx, get_result(last)).optional()?;
            let counted_to = last.unwrap_or(up_to).max(after);
            let counted = AddedResults::Between(prism, after, counted_to);
            on!(tx, execute(AddUsage::to(UsageTable::Days, counted)))?;
            let update = diesel::update(counted_results::table.find(Bind(prism)))
                .set(counted_results::up_to.eq(Bind(counted_to)));
            on!(tx, execute(update))?;
            tx.commit().await?;
            Ok(match last {
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

impl Watermark {
    /// The table of the watermarks.
    fn table(self) -> &'static str {
        match self {
            Self::Counted => "counted_results",
            Self::Watched => "watched_results",
        }
    }

    /// The first uncounted result of each prism of all accounts: the next one in the index by prism
    /// and id. By id alone, the planner would walk over the results of other prisms. An account that
    /// is being imported is left out, since its results come after its watermarks.
    fn first_uncounted(self) -> String {
        let table = self.table();
        format!(
            "SELECT prism, account, first FROM (
                SELECT prisms.id AS prism, prisms.account_id AS account, (
                    SELECT CASE WHEN results.prism_id = prisms.id THEN results.id END FROM results
                    WHERE (results.prism_id, results.id) > (prisms.id, COALESCE({table}.up_to, $1))
                    ORDER BY results.prism_id, results.id
                    LIMIT 1
                ) AS first
                FROM prisms
                LEFT JOIN {table} ON {table}.prism_id = prisms.id
                WHERE NOT EXISTS (
                    SELECT 1 FROM events
                    WHERE events.account_id = prisms.account_id AND events.action = $2
                ) OR EXISTS (
                    SELECT 1 FROM events
                    WHERE events.account_id = prisms.account_id AND events.action = $3
                )
            ) AS firsts
            WHERE first <= $4"
        )
    }
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
    #[diesel(sql_type = Nullable<Id>)]
    pub first: Option<ResultId>,
}

impl Database {
    /// The prisms of all accounts that have a result after their watermark, or after `from` without
    /// one, and up to `up_to`. Accounts that are being imported have none.
    pub async fn list_uncounted_prisms(
        &self,
        watermark: Watermark,
        from: ResultId,
        up_to: ResultId,
    ) -> Result<Vec<UncountedPrism>, PersistenceError> {
        let query = sql_query(watermark.first_uncounted())
            .bind::<Id, _>(Bind(from))
            .bind::<Text, _>(EventAction::AccountImportStarted.name())
            .bind::<Text, _>(EventAction::AccountImported.name())
            .bind::<Id, _>(Bind(up_to));
        self.load(query).await
    }
}
