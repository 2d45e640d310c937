//! Deleting many results: in several transactions, with events of the first and the last.

use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::ResultId;
use refract_persistence::{CopiedExamples, Database, DeletionEvent, PersistenceError};

use crate::people::accounts::AccountActor;

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
