//! Counts results once: adds what they used to the stored sums, and moves the watermark.

use diesel::prelude::*;
use refract_domain::ids::{PrismId, ResultId};

use crate::connections::{Transaction, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::results::usage::{AddUsage, AddedResults, UsageTable};
use crate::schema::sql_types::Bind;
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
