//! Deletes results with everything that depends on them, and keeps what they used.

use refract_boxed_futures::boxed;
use std::collections::BTreeSet;

use diesel::prelude::*;
use refract_domain::event::{Event, EventDetail};
use refract_domain::ids::{PrismId, ResultId};

use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::ledger::lock_watermarks;
use crate::queries::ledger::usage::sums::{AddUsage, AddedResults, UsageTable};
use crate::schema::sql_types::Bind;
use crate::schema::{prism_examples, results};

/// The event of a deletion of results.
#[derive(Clone, Debug)]
pub enum DeletionEvent {
    /// None: an earlier deletion has it, or a later one will have.
    Elsewhere,
    /// This event, if a result is deleted.
    Begun(Event),
    /// This event, with the number of results that this deletion and those before it deleted, if
    /// that is not zero.
    Ended {
        /// The event.
        event: Event,
        /// Number of results that earlier deletions deleted.
        before: u64,
    },
}

impl DeletionEvent {
    /// The event of a deletion that deleted this many results.
    fn of(self, deleted: usize) -> Option<Event> {
        match self {
            Self::Elsewhere => None,
            Self::Begun(event) => (deleted > 0).then_some(event),
            Self::Ended { event, before } => {
                let in_all = before.saturating_add(u64::try_from(deleted).unwrap_or(u64::MAX));
                let number = EventDetail::counted(in_all, "result");
                (in_all > 0).then(|| Event {
                    stamp: event.stamp.noted(number),
                    ..event
                })
            }
        }
    }
}

/// Whether deleting results deletes the example texts that people copied from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopiedExamples {
    /// They stay, without a link to their result: a purge by age.
    Kept,
    /// They are deleted: an erasure of one person's texts.
    Deleted,
}

impl CopiedExamples {
    /// The results of which copies are deleted.
    fn of_results(self, results: &[(ResultId, PrismId)]) -> Vec<Option<ResultId>> {
        match self {
            Self::Kept => Vec::new(),
            Self::Deleted => results.iter().map(|(id, _)| Some(*id)).collect(),
        }
    }
}

/// Numbers of deleted rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletedRows {
    /// Number of deleted results.
    pub results: u64,
    /// Number of deleted examples.
    pub examples: u64,
}

impl DeletedRows {
    fn of((results, examples): (usize, usize)) -> Self {
        Self {
            results: u64::try_from(results).unwrap_or(u64::MAX),
            examples: u64::try_from(examples).unwrap_or(u64::MAX),
        }
    }
}

#[boxed]
impl Database {
    /// Deletes results, with their idempotency keys and their marks. A retry of a deleted result
    /// stays, without its link. Returns how many of these results existed, and how many example
    /// texts copied from them were deleted; pass a few hundred ids at most.
    ///
    /// One transaction, which also adds what the results used to the sums of deleted results, those
    /// that were not counted yet to the sums of counted results, and saves an event. It locks the
    /// watermarks of the prisms, as a count does, so that each result is in the sums once.
    ///
    /// # Errors
    /// When the database fails. No result was deleted then.
    pub async fn delete_results(
        &self,
        ids: Vec<ResultId>,
        copied: CopiedExamples,
        event: DeletionEvent,
    ) -> Result<DeletedRows, PersistenceError> {
        self.begin(async move |mut tx| {
            let wanted: Vec<_> = ids.into_iter().map(Bind).collect();
            let wanted = results::table
                .filter(results::id.eq_any(wanted))
                .order(results::id)
                .select((results::id, results::prism_id));
            // from here on no retry of them can be saved; locked in the order in which others
            // lock several results
            let found: Vec<(ResultId, PrismId)> = on!(tx, load(for_update(wanted)))?;
            let number = found.len();
            let originals: Vec<_> = found.iter().map(|(id, _)| Some(*id)).collect();
            let retries = results::table.filter(results::retry_of.eq_any(originals));
            let unlink = diesel::update(retries).set(results::retry_of.eq(None::<ResultId>));
            on!(tx, execute(unlink))?;
            let erased = copied.of_results(&found);
            let erased = prism_examples::table.filter(prism_examples::result_id.eq_any(erased));
            let examples = on!(tx, execute(diesel::delete(erased)))?;
            // in the order in which others lock several watermarks
            let prisms: BTreeSet<PrismId> = found.iter().map(|(_, prism)| *prism).collect();
            let mut uncounted = Vec::new();
            for prism in prisms {
                let up_to = lock_watermarks(&mut tx, prism).await?.counted;
                let later = found.iter().filter(|it| it.1 == prism && it.0 > up_to);
                uncounted.extend(later.map(|(id, _)| *id));
            }
            let ids: Vec<ResultId> = found.iter().map(|(id, _)| *id).collect();
            for (table, ids) in [
                (UsageTable::Days, uncounted),
                (UsageTable::Deleted, ids.clone()),
            ] {
                if !ids.is_empty() {
                    let add = AddUsage::to(table, AddedResults::Named(ids));
                    on!(tx, execute(add))?;
                }
            }
            let gone: Vec<_> = ids.into_iter().map(Bind).collect();
            let gone = results::table.filter(results::id.eq_any(gone));
            on!(tx, execute(diesel::delete(gone)))?;
            if let Some(event) = event.of(number) {
                add_event(&mut tx, event).await?;
            }
            tx.commit().await?;
            Ok(DeletedRows::of((number, examples)))
        })
        .await
    }
}
