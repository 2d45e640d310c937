//! Purges the results of a prism in small batches, oldest first.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use refract_domain::event::{EventDetail, EventTarget};
use refract_persistence::{Database, PersistenceError, PurgeRange};

use crate::people::caller::Caller;
use crate::retention::Retention;
use crate::retention::deletion::Deletion;

/// Most results of a batch. Others that write to an SQLite file wait for a batch to end.
const BATCH: usize = 100;

/// The results of a prism from before a moment, which are deleted batch by batch.
pub struct Purge {
    database: Database,
    deletion: Deletion,
    range: PurgeRange,
    /// Where the batch before ended: what is older is gone.
    since: DateTime<Utc>,
}

/// What a batch did.
pub struct PurgedBatch {
    /// The number of results that it deleted.
    pub results: u64,
    /// The time that it took.
    pub took: Duration,
}

impl Retention<'_> {
    /// A purge of a prism, before the first batch, without a query.
    pub fn purge(self, caller: Caller, range: PurgeRange) -> Purge {
        let database = self.refract.database.clone();
        let target = EventTarget::Prism(range.prism);
        Purge {
            deletion: Deletion::purge(database.clone(), caller, target, words_of(&range)),
            database,
            range,
            since: DateTime::UNIX_EPOCH,
        }
    }
}

impl Purge {
    /// The number of results that are there to be deleted.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn count(&self) -> Result<u64, PersistenceError> {
        self.database.count_purgeable_results(&self.range).await
    }

    /// Deletes the next results, in a transaction of their own; `None` when none are left.
    ///
    /// A batch that began ends, even when the future is dropped.
    ///
    /// # Errors
    /// When the database fails. Batches that ended are not undone.
    pub async fn next_batch(&mut self) -> Result<Option<PurgedBatch>, PersistenceError> {
        let began = Instant::now();
        let one_more = u32::try_from(BATCH + 1).unwrap_or(u32::MAX);
        let listing = self
            .database
            .list_purgeable_results(&self.range, self.since, one_more);
        let found = listing.await?;
        let batch = found.get(..BATCH).unwrap_or(&found);
        let Some(last) = batch.last() else {
            self.end().await?;
            return Ok(None);
        };
        let is_last = batch.len() == found.len();
        self.since = last.created_at;
        let ids = batch.iter().map(|result| result.id).collect();
        let results = self.deletion.forget(ids, is_last).await?;
        Ok(Some(PurgedBatch {
            results,
            took: began.elapsed(),
        }))
    }

    /// Saves the event that tells how many results were deleted, where none tells it yet: for a purge
    /// that stops before its last batch.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn end(&mut self) -> Result<(), PersistenceError> {
        self.deletion.end().await
    }
}

/// A range as an event names it.
fn words_of(range: &PurgeRange) -> EventDetail {
    let before = EventDetail::at("saved before", range.before);
    match range.is_ok {
        None => before,
        Some(true) => before.and(&"ok".into()),
        Some(false) => before.and(&"failed".into()),
    }
}
