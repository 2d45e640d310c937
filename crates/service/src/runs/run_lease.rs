//! Leases of stored file runs, for the nodes that work on them.

use chrono::Utc;
use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{FileRunId, NodeId};
use refract_domain::result::{FileRunState, RunProgress, whole_milliseconds};
use refract_identity::people::AccountActor;
use refract_persistence::{JobLease, RunEnd};

use super::Runs;
use super::pinned_prism::PinnedPrism;
use super::stored_runs::StoredRun;
use crate::jobs::{StopCause, term};
use crate::prisms::{Prism, check_active};
use crate::{CallError, InternalError};

/// A stored file run with the lease under which this node works on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedRun {
    /// The run, as it was when the lease was taken.
    pub run: StoredRun,
    /// The lease.
    pub lease: JobLease<FileRunId>,
}

#[boxed]
impl Runs<'_> {
    /// Takes the lease of a stored file run that waits for a node, the one that waited longest, for
    /// 15 seconds. Leaves out the runs that the node holds. `None` when no run waits, or other nodes
    /// were first.
    pub async fn take_file_run(
        self,
        node: NodeId,
        held: &[FileRunId],
    ) -> Result<Option<LeasedRun>, InternalError> {
        let database = &self.refract.database;
        let (now, until) = term(database).await?;
        let taking = database.take_file_run(node, held, now, until);
        let Some(taken) = taking.await? else {
            return Ok(None);
        };
        let lease = taken.lease;
        let runs = self.named(lease.account, vec![taken.row]).await?;
        let Some(mut run) = runs.into_iter().next() else {
            return Ok(None);
        };
        // what a lost node saved last may be missing from the progress
        let used = self.usage(&run).await?;
        run.add_lost(&used);
        Ok(Some(LeasedRun { run, lease }))
    }

    /// Renews a lease for 15 seconds and saves the progress. Returns why the work stops; `None` while
    /// it goes on.
    ///
    /// # Errors
    /// When the database fails. The lease may last until then: try again.
    pub async fn renew_lease(
        self,
        lease: &JobLease<FileRunId>,
        progress: &RunProgress,
    ) -> Result<Option<StopCause>, InternalError> {
        let database = &self.refract.database;
        let (_, until) = term(database).await?;
        let renewing = database.renew_file_run_lease(*lease, until, progress.clone());
        Ok(match renewing.await? {
            Some(state) if state.is_worked_on() => None,
            Some(_) => Some(StopCause::Changed),
            None => Some(StopCause::Lost),
        })
    }

    /// Ends a lease: saves the progress and the state that the work led to, with an event of a node
    /// if the run is done, broken or paused. Returns `false`, with nothing saved, when the lease was
    /// lost.
    ///
    /// # Errors
    /// When the database fails. The lease expires by itself then.
    pub async fn end_lease(
        self,
        lease: JobLease<FileRunId>,
        end: RunEnd,
        progress: &RunProgress,
    ) -> Result<bool, InternalError> {
        let now = whole_milliseconds(Utc::now());
        let event = end.state.and_then(|state| event(lease, state, progress));
        let database = &self.refract.database;
        let ending = database.end_file_run_lease(lease, end, progress.clone(), now, event);
        Ok(ending.await?)
    }

    /// Pins the prism and the version of a stored file run, whose results the run's person makes.
    ///
    /// # Errors
    /// When the prism is archived, or the database fails.
    pub async fn pin_for_run(self, run: &StoredRun) -> Result<PinnedPrism, CallError> {
        let prism = self.refract.database.find_prism_by_id(run.prism).await?;
        self.pin_of_run(run, check_active(prism)?).await
    }

    /// Pins the prism and the version of a stored file run to read its results, which an archived
    /// prism keeps.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn pin_to_read(self, run: &StoredRun) -> Result<PinnedPrism, CallError> {
        let prism = self.refract.database.find_prism_by_id(run.prism).await?;
        let prism = prism.ok_or(CallError::PrismNotFound)?;
        self.pin_of_run(run, prism).await
    }

    async fn pin_of_run(self, run: &StoredRun, prism: Prism) -> Result<PinnedPrism, CallError> {
        let version = Some(run.version);
        let pinned = self.pin_found(run.account, prism, version).await?;
        let actor = match run.made_by {
            Some(person) => AccountActor::person(run.account, person),
            None => AccountActor::operator(run.account),
        };
        Ok(pinned.with_actor(actor.in_file_run(run.id)))
    }
}

/// The event of a state that the work of a node led to; `None` for one that is not announced.
fn event(lease: JobLease<FileRunId>, state: FileRunState, progress: &RunProgress) -> Option<Event> {
    let action = match state {
        FileRunState::Done | FileRunState::Broken => EventAction::FileRunEnded,
        FileRunState::Paused => EventAction::FileRunChanged,
        FileRunState::Matching
        | FileRunState::Checking
        | FileRunState::Ready
        | FileRunState::Previewing
        | FileRunState::Running
        | FileRunState::Cancelled => return None,
    };
    let about = EventDetail::list(&[
        EventDetail::file_run(lease.job),
        EventDetail::counted(progress.rows, "row"),
        EventDetail::worded(progress.refused, "refused"),
        EventDetail::worded(progress.answered_before, "answered before"),
        EventDetail::worded(progress.answered, "answered"),
        EventDetail::worded(progress.failed, "failed"),
    ]);
    let stamp = AccountActor::node(lease.account).event_stamp().noted(about);
    Some(Event {
        to: Some(state.into()),
        ..stamp.event(action, EventTarget::Prism(lease.prism))
    })
}
