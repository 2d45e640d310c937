//! Purges the results of a prism in small batches, oldest first.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_persistence::{Database, DeletionEvent, PersistenceError, PurgeRange};

use crate::people::caller::Caller;
use crate::retention::Retention;

/// Most results of a batch. Others that write to an SQLite file wait for a batch to end.
const BATCH: usize = 100;

/// The results of a prism from before a moment, which are deleted batch by batch.
///
/// A purge of one batch has one event, `results_purged` with the number of results. A longer one has
/// two: `purge_started` in the transaction of the first batch and `results_purged`, with the number of
/// all batches, in that of the last.
pub struct Purge {
    database: Database,
    caller: Caller,
    range: PurgeRange,
    /// Where the batch before ended: what is older is gone.
    since: DateTime<Utc>,
    deleted: u64,
    /// Whether results were deleted of which no event tells the number yet.
    owes_event: bool,
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
        Purge {
            database: self.refract.database.clone(),
            caller,
            range,
            since: DateTime::UNIX_EPOCH,
            deleted: 0,
            owes_event: false,
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
        let event = match (is_last, self.deleted) {
            (true, before) => DeletionEvent::Ended {
                event: self.event(EventAction::ResultsPurged),
                before,
            },
            (false, 0) => DeletionEvent::Begun(self.event(EventAction::PurgeStarted)),
            (false, _) => DeletionEvent::Elsewhere,
        };
        let forgetting = self.database.forget_results(ids, rand::random(), event);
        let results = forgetting.await?;
        self.deleted += results;
        self.owes_event = !is_last && self.deleted > 0;
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
        if self.owes_event {
            let mut event = self.event(EventAction::ResultsPurged);
            event.stamp = event
                .stamp
                .noted(EventDetail::counted(self.deleted, "result"));
            self.database.save_event(event).await?;
            self.owes_event = false;
        }
        Ok(())
    }

    fn event(&self, action: EventAction) -> Event {
        let PurgeRange {
            prism,
            before,
            is_ok,
        } = self.range;
        let range = EventDetail::at("saved before", before);
        let range = match is_ok {
            None => range,
            Some(true) => range.and(&"ok".into()),
            Some(false) => range.and(&"failed".into()),
        };
        let stamp = self.caller.event_stamp().noted(range);
        stamp.event(action, EventTarget::Prism(prism))
    }
}
