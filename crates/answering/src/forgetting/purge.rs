//! Purges the results of a prism in small batches, oldest first.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use refract_persistence::{Database, PersistenceError, PurgeRange};

/// Most results of a batch. Others that write to an SQLite file wait for a batch to end.
const BATCH: u32 = 100;

/// The results of a prism from before a moment, which are deleted batch by batch.
pub struct Purge {
    database: Database,
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

impl Purge {
    /// Starts before the first batch, without a query.
    pub fn new(database: &Database, range: PurgeRange) -> Self {
        Self {
            database: database.clone(),
            range,
            since: DateTime::UNIX_EPOCH,
        }
    }

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
        let listing = self
            .database
            .list_purgeable_results(&self.range, self.since, BATCH);
        let found = listing.await?;
        let Some(last) = found.last() else {
            return Ok(None);
        };
        self.since = last.created_at;
        let ids = found.iter().map(|result| result.id).collect();
        let results = self.database.forget_results(ids, rand::random()).await?;
        Ok(Some(PurgedBatch {
            results,
            took: began.elapsed(),
        }))
    }
}
