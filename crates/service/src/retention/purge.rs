//! Purges the results of a prism in small batches, oldest first.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use refract_domain::event::{EventDetail, EventTarget};
use refract_persistence::{Database, PersistenceError, PurgeRange};

use crate::people::accounts::AccountActor;
use crate::retention::Retention;
use crate::retention::deletion::Deletion;

/// Most results of a batch. Other writers of an SQLite file wait for a batch to end.
const BATCH: usize = 100;

/// A purge of a prism's results that were saved before a moment, batch by batch.
pub struct Purge {
    database: Database,
    deletion: Deletion,
    range: PurgeRange,
    /// When the last deleted result was saved: the range has no older results.
    since: DateTime<Utc>,
}

/// The outcome of a batch.
pub struct PurgedBatch {
    /// Number of results that the batch deleted.
    pub results: u64,
    /// Time that the batch took.
    pub took: Duration,
}

impl Retention<'_> {
    /// A purge of a prism, before the first batch, without a query.
    pub fn purge(self, actor: AccountActor, range: PurgeRange) -> Purge {
        let database = self.refract.database.clone();
        let target = EventTarget::Prism(range.prism);
        Purge {
            deletion: Deletion::purge(database.clone(), actor, target, describe(&range)),
            database,
            range,
            since: DateTime::UNIX_EPOCH,
        }
    }
}

impl Purge {
    /// Number of results that are still to be deleted.
    pub async fn count(&self) -> Result<u64, PersistenceError> {
        self.database.count_purgeable_results(&self.range).await
    }

    /// Deletes the next results, in a separate transaction; `None` when none are left.
    ///
    /// A batch that began completes, even when the future is dropped.
    ///
    /// # Errors
    /// When the database fails. Completed batches are not undone.
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
        let results = self.deletion.delete(ids, is_last).await?;
        Ok(Some(PurgedBatch {
            results,
            took: began.elapsed(),
        }))
    }

    /// Saves the event with the number of deleted results, unless an event has it already: for a
    /// purge that stops before its last batch.
    pub async fn end(&mut self) -> Result<(), PersistenceError> {
        self.deletion.end().await
    }
}

/// Describes a range for an event.
fn describe(range: &PurgeRange) -> EventDetail {
    let before = EventDetail::at("saved before", range.before);
    match range.is_ok {
        None => before,
        Some(true) => before.and(&"ok".into()),
        Some(false) => before.and(&"failed".into()),
    }
}
