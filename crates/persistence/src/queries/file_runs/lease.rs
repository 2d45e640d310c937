//! Leases of file runs: which node works on a run, and until when no other may.
//!
//! A node renews its lease long before the lease expires. Another node takes an expired lease,
//! judged by its own clock, so that a dead node blocks nothing. Each lease has a number, the fence,
//! which grows with every lease of the run: what a node writes under an earlier number is refused,
//! however late it is and whatever its clock says.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_domain::event::Event;
use refract_domain::ids::{AccountId, FileRunId, NodeId};
use refract_domain::result::file_run::{FileRunLimits, FileRunState, RunProgress};

use super::row::{FileRunRow, LIMITS, LimitColumns};
use crate::connections::{for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::file_runs;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{Stored, to_json};

/// Most runs among which a node looks for one that it can take.
const LOOKED_AT: i64 = 64;

/// The states in which a node works on a run.
const WORKED_ON: [&str; 3] = [
    FileRunState::Checking.name(),
    FileRunState::Previewing.name(),
    FileRunState::Running.name(),
];

/// A run that waits for a node.
#[derive(Queryable, Selectable)]
#[diesel(table_name = file_runs)]
struct WaitingRun {
    id: FileRunId,
    account_id: AccountId,
    fence: i64,
    lease_until: Option<DateTime<Utc>>,
    changed_at: DateTime<Utc>,
}

/// A node's lease of a file run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRunLease {
    /// The run.
    pub run: FileRunId,
    /// The node.
    pub node: NodeId,
    /// The number of the lease.
    pub fence: i64,
}

/// A file run with the lease under which a node works on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedFileRun {
    /// The lease.
    pub lease: FileRunLease,
    /// The run.
    pub row: FileRunRow,
}

/// A renewed lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = file_runs)]
pub struct RenewedLease {
    /// The state of the run now, which a person may have changed.
    #[diesel(deserialize_as = Stored<file_runs::state>)]
    pub state: FileRunState,
    /// The limits now, which a person may have changed.
    #[diesel(select_expression = LIMITS, select_expression_type = LimitColumns)]
    #[diesel(deserialize_as = Stored<LimitColumns>)]
    pub limits: FileRunLimits,
}

/// How a node ends its lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EndedLease {
    /// The state that the work led to, unless a person has changed the state meanwhile; `None` to
    /// leave the run to another node.
    pub state: Option<FileRunState>,
    /// Why the run paused or broke; saved with the state.
    pub reason: Option<String>,
    /// What the check of the whole file found; `None` keeps it.
    pub check: Option<String>,
    /// Counts of rows.
    pub progress: RunProgress,
    /// When the lease ends.
    pub at: DateTime<Utc>,
    /// The event of the new state; its earlier state is set here. Saved with the state.
    pub event: Option<Event>,
}

impl Database {
    /// Takes the lease of a file run that waits for a node, the one that waited longest, until a
    /// moment. Leaves out runs that the node holds. `None` when there is none, or when other nodes
    /// were first. Two queries, and one or more transactions of one statement.
    pub async fn take_file_run(
        &self,
        node: NodeId,
        held: &[FileRunId],
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedFileRun>, PersistenceError> {
        for waiting in self.list_waiting_runs(held, now).await? {
            let taken = FileRunLease {
                run: waiting.id,
                node,
                fence: waiting.fence + 1,
            };
            let taking = self.take_lease_after(taken, waiting.fence, now, until);
            if taking.await? {
                let row = self.find_file_run(waiting.account_id, waiting.id).await?;
                return Ok(row.map(|row| LeasedFileRun { lease: taken, row }));
            }
        }
        Ok(None)
    }

    /// Runs that wait for a node, the longest waiting first.
    async fn list_waiting_runs(
        &self,
        held: &[FileRunId],
        now: DateTime<Utc>,
    ) -> Result<Vec<WaitingRun>, PersistenceError> {
        let held: Vec<_> = held.iter().copied().map(Bind).collect();
        let is_free = file_runs::lease_until
            .is_null()
            .or(file_runs::lease_until.le(Some(now)));
        let query = file_runs::table
            .filter(file_runs::state.eq_any(WORKED_ON))
            .filter(is_free)
            .filter(file_runs::id.ne_all(held))
            .order(file_runs::changed_at)
            .limit(LOOKED_AT);
        let mut found: Vec<WaitingRun> = load_as!(self, query, WaitingRun).await?;
        found.sort_by_key(|run| run.lease_until.unwrap_or(run.changed_at));
        Ok(found)
    }

    /// Takes a lease if the last one has this number and is over, and the run still waits.
    async fn take_lease_after(
        &self,
        taken: FileRunLease,
        last: i64,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        let is_free = file_runs::lease_until
            .is_null()
            .or(file_runs::lease_until.le(Some(now)));
        let waiting = file_runs::table
            .find(Bind(taken.run))
            .filter(file_runs::fence.eq(last))
            .filter(file_runs::state.eq_any(WORKED_ON))
            .filter(is_free);
        let take = diesel::update(waiting).set((
            file_runs::fence.eq(taken.fence),
            file_runs::lease_holder.eq(Some(taken.node)),
            file_runs::lease_until.eq(Some(until)),
        ));
        Ok(self.execute(take).await? == 1)
    }

    /// Renews a lease until a moment and saves the progress. `None` when the lease was lost: another
    /// node holds the run, or a person restarted it. One transaction.
    pub async fn renew_file_run_lease(
        &self,
        lease: FileRunLease,
        until: DateTime<Utc>,
        progress: RunProgress,
    ) -> Result<Option<RenewedLease>, PersistenceError> {
        self.begin(async move |mut tx| {
            let held = || {
                file_runs::table
                    .find(Bind(lease.run))
                    .filter(file_runs::fence.eq(lease.fence))
                    .filter(file_runs::lease_holder.eq(Some(lease.node)))
            };
            let update = diesel::update(held()).set((
                file_runs::lease_until.eq(Some(until)),
                file_runs::progress.eq(to_json(&progress)?),
            ));
            on!(tx, execute(update))?;
            let renewed = held();
            let renewed = on!(tx, first(renewed) as RenewedLease).optional()?;
            tx.commit().await?;
            Ok(renewed)
        })
        .await
    }

    /// Ends a lease: saves the progress and, unless a person has changed the state meanwhile, the
    /// new state with its event. One transaction. Returns `false`, with nothing saved, when the
    /// lease was lost.
    pub async fn end_file_run_lease(
        &self,
        lease: FileRunLease,
        end: EndedLease,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let held = || {
                file_runs::table
                    .find(Bind(lease.run))
                    .filter(file_runs::fence.eq(lease.fence))
                    .filter(file_runs::lease_holder.eq(Some(lease.node)))
            };
            let state = for_update(held().select(file_runs::state));
            let state: Option<String> = on!(tx, get_result(state)).optional()?;
            let Some(state) = state.and_then(|name| FileRunState::parse(&name)) else {
                return Ok(false);
            };
            let new = end.state.filter(|new| state.may_end_as(*new));
            let update = diesel::update(held()).set((
                file_runs::progress.eq(to_json(&end.progress)?),
                file_runs::changed_at.eq(Bind(end.at)),
                end.check.map(|check| file_runs::file_check.eq(Some(check))),
                new.map(|new| file_runs::state.eq(new.name())),
                new.map(|_| file_runs::reason.eq(end.reason)),
                new.filter(|new| new.is_final())
                    .map(|_| file_runs::ended_at.eq(Some(end.at))),
                file_runs::lease_holder.eq(None::<NodeId>),
                file_runs::lease_until.eq(None::<DateTime<Utc>>),
            ));
            on!(tx, execute(update))?;
            if let (Some(_), Some(event)) = (new, end.event) {
                let from = Some(state.into());
                add_event(&mut tx, Event { from, ..event }).await?;
            }
            tx.commit().await?;
            Ok(true)
        })
        .await
    }
}
