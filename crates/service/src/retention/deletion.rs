//! Deleting many results: in several transactions, with events of the first and the last. A purge
//! deletes the results of a prism in small batches, oldest first. Erasure on request deletes results
//! with everything that has the texts that were sent.

use refract_boxed_futures::boxed;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, ResultId};
use refract_domain::submission::Ref;
use refract_identity::people::AccountActor;
use refract_persistence::{CopiedExamples, Database, DeletionEvent, PersistenceError, PurgeRange};

use crate::retention::Retention;

/// Most results of a batch. Other writers of an SQLite file wait for a batch to end.
const BATCH: usize = 100;
/// Number of results in one query or one transaction.
const CHUNK: usize = 100;

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

#[boxed]
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

/// The outcome of an erasure.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erased {
    /// Number of erased results, linked ones included.
    pub results: u64,
    /// Number of erased results that were not named: retries of the named results, and the failed
    /// results that those retried.
    pub retries: u64,
    /// Number of erased example texts: copies of erased results, and those with the reference.
    pub examples: u64,
    /// The named ids that are not results of the account, in the order in which they were named.
    pub unknown: Vec<ResultId>,
}

#[boxed]
impl Retention<'_> {
    /// Erases results by their ids, with the results that they retried and those that retried them:
    /// each has the same texts. Ids that the account does not have are reported and change nothing.
    ///
    /// # Errors
    /// When the database fails. Results erased until then stay erased.
    pub async fn erase(
        self,
        actor: &AccountActor,
        ids: &[ResultId],
    ) -> Result<Erased, PersistenceError> {
        let named: BTreeSet<ResultId> = ids.iter().copied().collect();
        let found = self.with_retries(actor.account(), &named).await?;
        let mut unknown = Vec::new();
        for id in ids {
            if !found.contains(id) && !unknown.contains(id) {
                unknown.push(*id);
            }
        }
        let retries = found.difference(&named).count();
        let mut erasure = Deletion::erasure(self.refract.database.clone(), actor.clone());
        erase(&mut erasure, found, true).await?;
        Ok(Erased {
            results: erasure.deleted(),
            examples: erasure.examples(),
            retries: u64::try_from(retries).unwrap_or(u64::MAX),
            unknown,
        })
    }

    /// Erases every result and every example text of the caller's account with a reference, of any
    /// prism.
    ///
    /// # Errors
    /// When the database fails. Results erased until then stay erased.
    pub async fn erase_reference(
        self,
        actor: &AccountActor,
        reference: &Ref,
    ) -> Result<Erased, PersistenceError> {
        let database = &self.refract.database;
        let account = actor.account();
        let mut erasure = Deletion::erasure(database.clone(), actor.clone());
        let limit = u32::try_from(CHUNK).unwrap_or(u32::MAX);
        loop {
            let page = database.list_results_of_reference(account, reference, limit);
            let named: BTreeSet<ResultId> = page.await?.into_iter().collect();
            if named.is_empty() {
                break;
            }
            let is_last = named.len() < CHUNK;
            let found = self.with_retries(account, &named).await?;
            erase(&mut erasure, found, is_last).await?;
        }
        erasure.end().await?;
        let stamp = actor.event_stamp();
        let examples = database.erase_examples_of_reference(reference, stamp);
        Ok(Erased {
            examples: erasure.examples() + examples.await?,
            results: erasure.deleted(),
            ..Erased::default()
        })
    }

    /// Removes traces of deleted results from an SQLite file; returns whether none are left.
    ///
    /// # Errors
    /// When the file cannot be rewritten.
    pub async fn remove_traces(self) -> Result<bool, PersistenceError> {
        self.refract.database.remove_deleted_traces().await
    }

    /// Which of these results the account has, with all results linked to them by retries.
    async fn with_retries(
        self,
        account: AccountId,
        named: &BTreeSet<ResultId>,
    ) -> Result<BTreeSet<ResultId>, PersistenceError> {
        let database = &self.refract.database;
        let mut found = BTreeSet::new();
        let mut next: Vec<ResultId> = named.iter().copied().collect();
        while !next.is_empty() {
            let mut linked = BTreeSet::new();
            for ids in next.chunks(CHUNK) {
                let known = database.list_originals(account, ids.to_vec()).await?;
                let known_ids = known.iter().map(|(id, _)| *id).collect::<Vec<_>>();
                linked.extend(known.iter().filter_map(|(_, original)| *original));
                found.extend(known_ids.iter().copied());
                linked.extend(database.list_retries(known_ids).await?.into_values());
            }
            next = linked.difference(&found).copied().collect();
        }
        Ok(found)
    }
}

/// Deletes results, chunk by chunk. `is_last` means that none follow.
async fn erase(
    erasure: &mut Deletion,
    ids: BTreeSet<ResultId>,
    is_last: bool,
) -> Result<(), PersistenceError> {
    let ids: Vec<ResultId> = ids.into_iter().collect();
    let mut chunks = ids.chunks(CHUNK).peekable();
    while let Some(ids) = chunks.next() {
        let is_last = is_last && chunks.peek().is_none();
        erasure.delete(ids.to_vec(), is_last).await?;
    }
    Ok(())
}
