//! Deleting many results: in several transactions, with events of the first and the last. A purge
//! deletes the results of a prism in small batches, oldest first.

use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::ResultId;
use refract_persistence::{CopiedExamples, Database, DeletionEvent, PersistenceError, PurgeRange};

use crate::people::accounts::AccountActor;
use crate::retention::Retention;

/// Most results of a batch. Other writers of an SQLite file wait for a batch to end.
const BATCH: usize = 100;

/// A deletion of results in progress.
///
/// A deletion of one transaction has one event, `ended` with the number of results. A longer one
/// has two: `begun` in the first transaction and `ended`, with the total number, in the last.
pub(super) struct Deletion {
    database: Database,
    actor: AccountActor,
    target: EventTarget,
    /// How the events describe the results.
    detail: Option<EventDetail>,
    begun: EventAction,
    ended: EventAction,
    copied: CopiedExamples,
    deleted: u64,
    /// Number of example texts deleted with their results.
    examples: u64,
    /// Whether results were deleted whose number no event has yet.
    owes_event: bool,
}

impl Deletion {
    /// A purge of a prism's results, with this detail in its events.
    pub(super) fn purge(
        database: Database,
        actor: AccountActor,
        target: EventTarget,
        detail: EventDetail,
    ) -> Self {
        Self {
            database,
            actor,
            target,
            detail: Some(detail),
            begun: EventAction::PurgeStarted,
            ended: EventAction::ResultsPurged,
            copied: CopiedExamples::Kept,
            deleted: 0,
            examples: 0,
            owes_event: false,
        }
    }

    /// An erasure of results of the caller's account.
    pub(super) fn erasure(database: Database, actor: AccountActor) -> Self {
        Self {
            target: EventTarget::Account(actor.account()),
            database,
            actor,
            detail: None,
            begun: EventAction::ErasureStarted,
            ended: EventAction::ResultsErased,
            copied: CopiedExamples::Deleted,
            deleted: 0,
            examples: 0,
            owes_event: false,
        }
    }

    /// The number of results deleted so far.
    pub(super) fn deleted(&self) -> u64 {
        self.deleted
    }

    /// The number of example texts deleted with their results so far.
    pub(super) fn examples(&self) -> u64 {
        self.examples
    }

    /// Deletes results in a separate transaction and returns how many existed. `is_last` means that
    /// none follow.
    pub(super) async fn delete(
        &mut self,
        ids: Vec<ResultId>,
        is_last: bool,
    ) -> Result<u64, PersistenceError> {
        let event = match (is_last, self.deleted) {
            (true, before) => DeletionEvent::Ended {
                event: self.event(self.ended),
                before,
            },
            (false, 0) => DeletionEvent::Begun(self.event(self.begun)),
            (false, _) => DeletionEvent::Elsewhere,
        };
        let deleting = self.database.delete_results(ids, self.copied, event);
        let deleted = deleting.await?;
        self.deleted += deleted.results;
        self.examples += deleted.examples;
        self.owes_event = !is_last && self.deleted > 0;
        Ok(deleted.results)
    }

    /// Saves the event with the number of deleted results, unless an event has it already.
    pub(super) async fn end(&mut self) -> Result<(), PersistenceError> {
        if self.owes_event {
            let mut event = self.event(self.ended);
            let counted = EventDetail::counted(self.deleted, "result");
            event.stamp = event.stamp.noted(counted);
            self.database.save_event(event).await?;
            self.owes_event = false;
        }
        Ok(())
    }

    fn event(&self, action: EventAction) -> Event {
        let stamp = self.actor.event_stamp();
        let stamp = match &self.detail {
            None => stamp,
            Some(detail) => stamp.noted(detail.clone()),
        };
        stamp.event(action, self.target)
    }
}

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
