//! Leases of file runs, by which a node takes a run, saves how far it came, and leaves it.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::Event;
use refract_domain::ids::{FileRunId, NodeId};
use refract_domain::result::{FileRunState, RunProgress};

use super::FileRunRow;
use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::leases::{
    JobLease, LOOKED_AT, LeasedJob, WaitingJob, latest_end, leases_to_take,
};
use crate::schema::file_runs;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{Stored, to_json};

/// The states in which a node works on a run.
const WORKED_ON: [&str; 3] = [
    FileRunState::Checking.name(),
    FileRunState::Previewing.name(),
    FileRunState::Running.name(),
];

/// How a node's work on a file run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// The state that the work led to; `None` to leave the run to another node. A state that a
    /// person set meanwhile stays.
    pub state: Option<FileRunState>,
    /// Why the run paused or broke, for people; saved with the state.
    pub reason: Option<String>,
    /// What the check of the whole file found; `None` keeps it.
    pub check: Option<String>,
}

#[boxed]
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
    ) -> Result<Option<LeasedJob<FileRunId, FileRunRow>>, PersistenceError> {
        let waiting = self.list_waiting_runs(held, now).await?;
        for lease in leases_to_take(waiting, node) {
            if self.take_waiting_run(lease, now, until).await? {
                let row = self.find_file_run(lease.account, lease.job).await?;
                return Ok(row.map(|row| LeasedJob { lease, row }));
            }
        }
        Ok(None)
    }

    /// Runs that wait for a node.
    async fn list_waiting_runs(
        &self,
        held: &[FileRunId],
        now: DateTime<Utc>,
    ) -> Result<Vec<WaitingJob<FileRunId>>, PersistenceError> {
        let held: Vec<_> = held.iter().copied().map(Bind).collect();
        let query = file_runs::table
            .filter(file_runs::state.eq_any(WORKED_ON))
            .filter(is_free(now))
            .filter(file_runs::id.ne_all(held))
            .order(file_runs::changed_at)
            .limit(LOOKED_AT)
            .select((
                file_runs::id,
                file_runs::account_id,
                file_runs::prism_id,
                file_runs::fence,
                file_runs::lease_until,
                file_runs::changed_at,
            ));
        self.load(query).await
    }

    /// Takes a lease if the one before is over, and the run still waits.
    async fn take_waiting_run(
        &self,
        taken: JobLease<FileRunId>,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        let waiting = file_runs::table
            .find(Bind(taken.job))
            .filter(file_runs::fence.eq(taken.fence - 1))
            .filter(file_runs::state.eq_any(WORKED_ON))
            .filter(is_free(now));
        let take = diesel::update(waiting).set((
            file_runs::fence.eq(taken.fence),
            file_runs::lease_holder.eq(Some(taken.node)),
            file_runs::lease_until.eq(Some(until)),
        ));
        Ok(self.execute(take).await? == 1)
    }

    /// Renews a lease until a moment and saves the progress. Returns the state of the run now, which a
    /// person may have changed; `None` when the lease was lost: another node holds the run, or a person
    /// restarted it. One transaction.
    pub async fn renew_file_run_lease(
        &self,
        lease: JobLease<FileRunId>,
        until: DateTime<Utc>,
        progress: RunProgress,
    ) -> Result<Option<FileRunState>, PersistenceError> {
        self.begin(async move |mut tx| {
            let update = diesel::update(held(lease)).set((
                file_runs::lease_until.eq(Some(until)),
                file_runs::progress.eq(to_json(&progress)?),
            ));
            on!(tx, execute(update))?;
            let state = held(lease).select(file_runs::state);
            let state: Option<Stored<file_runs::state>> = on!(tx, first(state)).optional()?;
            tx.commit().await?;
            state.map(|state| Ok(state.try_into()?)).transpose()
        })
        .await
    }

    /// Ends a lease at a moment: saves the progress and, unless a person has changed the state meanwhile, the
    /// new state with its event, whose earlier state is set here. One transaction. Returns `false`,
    /// with nothing saved, when the lease was lost.
    pub async fn end_file_run_lease(
        &self,
        lease: JobLease<FileRunId>,
        end: RunEnd,
        progress: RunProgress,
        at: DateTime<Utc>,
        event: Option<Event>,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let state = for_update(held(lease).select(file_runs::state));
            let state: Option<String> = on!(tx, get_result(state)).optional()?;
            let Some(state) = state.and_then(|name| FileRunState::parse(&name)) else {
                return Ok(false);
            };
            let new = end.state.filter(|new| state.may_end_as(*new));
            let update = diesel::update(held(lease)).set((
                file_runs::progress.eq(to_json(&progress)?),
                file_runs::changed_at.eq(Bind(at)),
                end.check.map(|check| file_runs::file_check.eq(Some(check))),
                new.map(|new| file_runs::state.eq(new.name())),
                new.map(|_| file_runs::reason.eq(end.reason)),
                new.filter(|new| new.is_final())
                    .map(|_| file_runs::ended_at.eq(Some(at))),
                file_runs::lease_holder.eq(None::<NodeId>),
                file_runs::lease_until.eq(None::<DateTime<Utc>>),
            ));
            on!(tx, execute(update))?;
            if let (Some(_), Some(event)) = (new, event) {
                let from = Some(state.into());
                add_event(&mut tx, Event { from, ..event }).await?;
            }
            tx.commit().await?;
            Ok(true)
        })
        .await
    }
}

/// Whether no node holds a file run at a moment: see [`latest_end`].
#[diesel::dsl::auto_type(no_type_alias)]
pub(in crate::queries) fn is_free(now: DateTime<Utc>) -> _ {
    let latest: Option<DateTime<Utc>> = Some(latest_end(now));
    let now: Option<DateTime<Utc>> = Some(now);
    file_runs::lease_until
        .is_null()
        .or(file_runs::lease_until.le(now))
        .or(file_runs::lease_until.gt(latest))
}

/// The file run of a lease, while the lease is held.
#[diesel::dsl::auto_type(no_type_alias)]
fn held(lease: JobLease<FileRunId>) -> _ {
    let run: Bind<FileRunId> = Bind(lease.job);
    let fence: i64 = lease.fence;
    let node: Option<NodeId> = Some(lease.node);
    file_runs::table
        .filter(file_runs::id.eq(run))
        .filter(file_runs::fence.eq(fence))
        .filter(file_runs::lease_holder.eq(node))
}
