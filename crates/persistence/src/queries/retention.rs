//! Retention and erasure: which results are deleted by age or on request, and how.
//!
//! The state of the background purge: the clock, the newest result, the last complete round, and
//! since when the clock is in doubt; and leases, for work that one node at a time does for all.
//!
//! A node holds a lease until the lease expires, and renews it before then. Another node takes an
//! expired lease, judged by [`Database::time`], so that a dead node blocks nothing. When that clock
//! jumps, two nodes may hold a lease at the same time: work under a lease must tolerate that.

mod purgeable_results;

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use diesel::prelude::*;
use diesel::upsert::excluded;
use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventDetail};
use refract_domain::ids::{NodeId, PrismId, ResultId};

use crate::connections::{Pools, find_as, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::leases::latest_end;
use crate::queries::ledger::lock_watermarks;
use crate::queries::ledger::usage::sums::{AddUsage, AddedResults, UsageTable};
use crate::schema::sql_types::{Bind, Moment};
use crate::schema::{leases, prism_examples, results, retention_doubts, retention_rounds};

pub use self::purgeable_results::{PurgeRange, PurgeableResult};

/// The last complete round, across all nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, HasQuery)]
#[diesel(table_name = retention_rounds)]
pub struct RetentionRoundRow {
    /// Every result from before this moment was deleted.
    pub cleared_before: DateTime<Utc>,
    /// When the round ended.
    pub ended_at: DateTime<Utc>,
}

#[boxed]
impl Database {
    /// The time that all nodes agree on: the database server's. An SQLite file has no clock, so the
    /// time there is `of_node`.
    pub async fn time(&self, of_node: DateTime<Utc>) -> Result<DateTime<Utc>, PersistenceError> {
        if let Pools::Sqlite(_) = self.connections.pools() {
            return Ok(of_node);
        }
        self.read(async move |mut connection| {
            let clock = diesel::dsl::sql::<Moment>("clock_timestamp()");
            Ok(on!(connection, get_result(diesel::select(clock)))?)
        })
        .await
    }

    /// The creation time of the newest result of all accounts, ignoring results from after `now`.
    /// `None` when there is no result.
    pub async fn find_newest_result_moment(
        &self,
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, PersistenceError> {
        let after = ResultId::first_of(now + TimeDelta::milliseconds(1));
        let query = results::table
            .filter(results::id.lt(Bind(after)))
            .order(results::id.desc())
            .select(results::id);
        let newest: Option<ResultId> = self.find(query.limit(1)).await?;
        Ok(newest.map(ResultId::moment))
    }

    /// The last complete round of this name.
    pub async fn find_retention_round(
        &self,
        name: &'static str,
    ) -> Result<Option<RetentionRoundRow>, PersistenceError> {
        let query = retention_rounds::table.find(name);
        find_as!(self, query, RetentionRoundRow).await
    }

    /// Records a complete round in place of the earlier one, and clears any doubt about the clock.
    pub async fn save_retention_round(
        &self,
        name: &'static str,
        round: RetentionRoundRow,
    ) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let save = diesel::insert_into(retention_rounds::table)
                .values((
                    retention_rounds::name.eq(name),
                    retention_rounds::cleared_before.eq(Bind(round.cleared_before)),
                    retention_rounds::ended_at.eq(Bind(round.ended_at)),
                ))
                .on_conflict(retention_rounds::name)
                .do_update()
                .set((
                    retention_rounds::cleared_before.eq(excluded(retention_rounds::cleared_before)),
                    retention_rounds::ended_at.eq(excluded(retention_rounds::ended_at)),
                ));
            on!(connection, execute(save))?;
            let doubt = retention_doubts::table.find(name);
            on!(connection, execute(diesel::delete(doubt)))?;
            Ok(())
        })
        .await
    }

    /// Since when the clock of rounds of this name is in doubt. A doubt from after `now` does not
    /// count: the clock was set back since.
    pub async fn find_retention_doubt(
        &self,
        name: &'static str,
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, PersistenceError> {
        let doubt = retention_doubts::table
            .find(name)
            .filter(retention_doubts::since.le(Bind(now)))
            .select(retention_doubts::since);
        self.find(doubt.limit(1)).await
    }

    /// Records that the clock of rounds of this name is in doubt since `now`. An earlier doubt
    /// keeps its moment.
    pub async fn save_retention_doubt(
        &self,
        name: &'static str,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let insert = diesel::insert_into(retention_doubts::table)
            .values((
                retention_doubts::name.eq(name),
                retention_doubts::since.eq(Bind(now)),
            ))
            .on_conflict(retention_doubts::name)
            .do_update()
            .set(retention_doubts::since.eq(excluded(retention_doubts::since)));
        let is_void = retention_doubts::since.gt(Bind(now));
        let save = diesel::query_dsl::methods::FilterDsl::filter(insert, is_void);
        self.execute(save).await?;
        Ok(())
    }
}

#[boxed]
impl Database {
    /// Takes a lease or renews it until a moment. Returns whether the node holds the lease now:
    /// `false` while another node's lease lasts.
    pub async fn take_lease(
        &self,
        name: &'static str,
        holder: NodeId,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        let insert = diesel::insert_into(leases::table)
            .values((
                leases::name.eq(name),
                leases::holder.eq(Bind(holder)),
                leases::expires_at.eq(Bind(until)),
            ))
            .on_conflict(leases::name)
            .do_update()
            .set((
                leases::holder.eq(excluded(leases::holder)),
                leases::expires_at.eq(excluded(leases::expires_at)),
            ));
        let is_ours = leases::holder.eq(Bind(holder));
        let is_free = is_ours
            .or(leases::expires_at.le(Bind(now)))
            .or(leases::expires_at.gt(Bind(latest_end(now))));
        let take = diesel::query_dsl::methods::FilterDsl::filter(insert, is_free);
        Ok(self.execute(take).await? == 1)
    }

    /// Releases a lease that the node may hold, so that another node can take it at once.
    pub async fn release_lease(
        &self,
        name: &'static str,
        holder: NodeId,
    ) -> Result<(), PersistenceError> {
        let held = leases::table
            .filter(leases::name.eq(name))
            .filter(leases::holder.eq(Bind(holder)));
        self.execute(diesel::delete(held)).await?;
        Ok(())
    }
}

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
