//! Leases of jobs: which node works on a file run or a retest, and until when no other may.
//!
//! A node renews its lease long before the lease expires. Another node takes an expired lease, so
//! that a dead node blocks nothing. When it expires is judged by [`Database::time`], since clocks of
//! nodes differ. Each lease has a number, the fence, which grows with every lease of the job: what a
//! node writes under an earlier number is refused, however late it is and whatever its clock says.
//!
//! [`Database::time`]: crate::Database::time

use chrono::{DateTime, TimeDelta, Utc};
use diesel::Queryable;
use refract_domain::ids::{AccountId, NodeId, PrismId};

/// Most jobs among which a node looks for one that it can take.
pub(super) const LOOKED_AT: i64 = 64;

/// A lease ends at most this long after now: none lasts longer than a few minutes, and the rest is
/// for a clock that was set back.
const LONGEST: TimeDelta = TimeDelta::minutes(10);

/// The latest moment at which a lease can end that a node holds now. A lease that ends later is
/// free: its node took it while the clock was ahead, and would otherwise hold up the work for that
/// long after a crash. A node that lives nevertheless is refused by the fence.
pub(super) fn latest_end(now: DateTime<Utc>) -> DateTime<Utc> {
    now.checked_add_signed(LONGEST).unwrap_or(now)
}

/// A node's lease of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobLease<Job> {
    /// The file run or the retest.
    pub job: Job,
    /// The account that the job belongs to.
    pub account: AccountId,
    /// The prism that is asked.
    pub prism: PrismId,
    /// The node.
    pub node: NodeId,
    /// The number of the lease.
    pub fence: i64,
}

/// A job with the lease under which a node works on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeasedJob<Job, Row> {
    /// The lease.
    pub lease: JobLease<Job>,
    /// The file run or the retest.
    pub row: Row,
}

/// A job that waits for a node.
#[derive(Queryable)]
pub(super) struct WaitingJob<Job> {
    job: Job,
    account: AccountId,
    prism: PrismId,
    fence: i64,
    lease_until: Option<DateTime<Utc>>,
    changed_at: DateTime<Utc>,
}

/// The leases that a node can try to take, that of the job that waited longest first.
pub(super) fn leases_to_take<Job>(
    mut waiting: Vec<WaitingJob<Job>>,
    node: NodeId,
) -> impl Iterator<Item = JobLease<Job>> {
    waiting.sort_by_key(|job| job.lease_until.unwrap_or(job.changed_at));
    waiting.into_iter().map(move |waiting| JobLease {
        job: waiting.job,
        account: waiting.account,
        prism: waiting.prism,
        node,
        fence: waiting.fence + 1,
    })
}
