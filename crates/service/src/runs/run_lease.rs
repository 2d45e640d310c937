//! Leases of stored file runs, for the nodes that work on them.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::{AccountId, FileRunId, NodeId, PrismId};
use refract_domain::prism::slug::PrismSelector;
use refract_domain::result::file_run::{FileRunLimits, FileRunState, RunProgress};
use refract_domain::result::whole_milliseconds;
use refract_identity::people::AccountActor;
use refract_persistence::{EndedLease, FileRunLease};

use super::Runs;
use super::pinned_prism::PinnedPrism;
use super::stored_runs::StoredRun;
use crate::{CallError, InternalError};

/// How long a lease lasts without renewal: after this time another node takes over from one that
/// died.
pub const RUN_LEASE_TERM: TimeDelta = TimeDelta::seconds(15);
/// The pause between two renewals of a lease.
pub const RUN_LEASE_RENEWAL: std::time::Duration = std::time::Duration::from_secs(3);

/// A node's right to work on a stored file run. It ends when it is not renewed for
/// [`RUN_LEASE_TERM`] and another node takes the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunLease {
    lease: FileRunLease,
    account: AccountId,
    prism: PrismId,
}

/// A stored file run with the lease under which this node works on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedRun {
    /// The run, as it was when the lease was taken.
    pub run: StoredRun,
    /// The lease.
    pub lease: RunLease,
}

/// The outcome of renewing a lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseOutcome {
    /// The node goes on, within these limits.
    Held {
        /// The limits, which a person may have changed.
        limits: FileRunLimits,
    },
    /// A person changed the state of the run, which nobody works on now: finish the rows in flight
    /// and end the lease.
    Changed(FileRunState),
    /// The node holds the run no more: write nothing more about it.
    Lost,
}

/// How a node's work on a stored file run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunEnd {
    /// The state that the work led to; `None` to leave the run to another node. A state that a
    /// person set meanwhile stays.
    pub state: Option<FileRunState>,
    /// Why the run paused or broke, for people.
    pub reason: Option<String>,
    /// What the check of the whole file found; `None` keeps it.
    pub check: Option<String>,
}

impl RunLease {
    /// The run.
    pub fn run(&self) -> FileRunId {
        self.lease.run
    }
}

impl Runs<'_> {
    /// Takes the lease of a stored file run that waits for a node, the one that waited longest, for
    /// [`RUN_LEASE_TERM`]. Leaves out the runs that the node holds. `None` when no run waits, or
    /// other nodes were first.
    pub async fn take_file_run(
        self,
        node: NodeId,
        held: &[FileRunId],
    ) -> Result<Option<LeasedRun>, InternalError> {
        let (now, until) = term();
        let database = &self.refract.database;
        let taking = database.take_file_run(node, held, now, until);
        let Some(taken) = taking.await? else {
            return Ok(None);
        };
        let (account, prism) = (taken.row.account, taken.row.prism);
        let runs = self.named(account, vec![taken.row]).await?;
        Ok(runs.into_iter().next().map(|run| LeasedRun {
            run,
            lease: RunLease {
                lease: taken.lease,
                account,
                prism,
            },
        }))
    }

    /// Renews a lease for [`RUN_LEASE_TERM`] and saves the progress.
    ///
    /// # Errors
    /// When the database fails. The lease may last until then: try again.
    pub async fn renew_lease(
        self,
        lease: &RunLease,
        progress: &RunProgress,
    ) -> Result<LeaseOutcome, InternalError> {
        let (_, until) = term();
        let database = &self.refract.database;
        let renewing = database.renew_file_run_lease(lease.lease, until, progress.clone());
        Ok(match renewing.await? {
            None => LeaseOutcome::Lost,
            Some(renewed) if renewed.state.is_worked_on() => LeaseOutcome::Held {
                limits: renewed.limits,
            },
            Some(renewed) => LeaseOutcome::Changed(renewed.state),
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
        lease: RunLease,
        end: RunEnd,
        progress: &RunProgress,
    ) -> Result<bool, InternalError> {
        let (now, _) = term();
        let event = end.state.and_then(|state| event(&lease, state, progress));
        let ended = EndedLease {
            state: end.state,
            reason: end.reason,
            check: end.check,
            progress: progress.clone(),
            at: now,
            event,
        };
        let database = &self.refract.database;
        Ok(database.end_file_run_lease(lease.lease, ended).await?)
    }

    /// Pins the prism and the version of a stored file run, whose results the run's person makes.
    ///
    /// # Errors
    /// When the prism is archived, or the database fails.
    pub async fn pin_for_run(self, run: &StoredRun) -> Result<PinnedPrism, CallError> {
        let prism = PrismSelector::Id(run.prism);
        let pinned = self.pin(run.account, &prism, Some(run.version)).await?;
        let actor = match run.made_by {
            Some(person) => AccountActor::person(run.account, person),
            None => AccountActor::operator(run.account),
        };
        Ok(pinned.with_actor(actor.in_file_run(run.id)))
    }
}

/// Now, and the end of a lease that begins now.
fn term() -> (DateTime<Utc>, DateTime<Utc>) {
    let now = whole_milliseconds(Utc::now());
    (now, now + RUN_LEASE_TERM)
}

/// The event of a state that the work of a node led to; `None` for one that is not announced.
fn event(lease: &RunLease, state: FileRunState, progress: &RunProgress) -> Option<Event> {
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
        EventDetail::file_run(lease.run()),
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
