//! Leases of stored retests, for the nodes that ask about their texts.

use chrono::{DateTime, Utc};
use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::NodeId;
use refract_domain::result::retest::RetestState;
use refract_domain::result::whole_milliseconds;
use refract_persistence::{EndedRetestLease, LeasedRetest, PersistenceError};

use super::Retests;
use crate::people::account_actor::AccountActor;
use crate::runs::RUN_LEASE_TERM;

/// How a node's work on a retest ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct RetestEnd {
    /// The state that the work led to; `None` to leave the retest to another node. A state that a
    /// person set meanwhile stays.
    pub(super) state: Option<RetestState>,
    /// Why the retest failed, for people.
    pub(super) reason: Option<String>,
    /// Flips so far; `None` keeps them.
    pub(super) flips: Option<u64>,
}

impl Retests<'_> {
    /// Takes the lease of a retest that waits for a node, the one that waited longest, for as long
    /// as that of a file run. `None` when no retest waits, or other nodes were first.
    pub(super) async fn take(self, node: NodeId) -> Result<Option<LeasedRetest>, PersistenceError> {
        let (now, until) = term();
        self.refract
            .database
            .take_retest(node, &[], now, until)
            .await
    }

    /// Renews a lease. Returns the state of the retest now; `None` when the lease was lost.
    pub(super) async fn renew(
        self,
        leased: &LeasedRetest,
    ) -> Result<Option<RetestState>, PersistenceError> {
        let (_, until) = term();
        let database = &self.refract.database;
        database.renew_retest_lease(leased.lease, until).await
    }

    /// Ends a lease: saves the state that the work led to, with an event of a node.
    pub(super) async fn end(
        self,
        leased: &LeasedRetest,
        end: RetestEnd,
    ) -> Result<bool, PersistenceError> {
        let (now, _) = term();
        let event = end.state.map(|state| {
            let about = EventDetail::retest(leased.row.id);
            let stamp = AccountActor::node(leased.row.account).event_stamp();
            let target = EventTarget::Prism(leased.row.prism);
            Event {
                to: Some(state.into()),
                ..stamp.noted(about).event(EventAction::RetestEnded, target)
            }
        });
        let ended = EndedRetestLease {
            state: end.state,
            reason: end.reason,
            flips: end.flips,
            at: now,
            event,
        };
        let database = &self.refract.database;
        database.end_retest_lease(leased.lease, ended).await
    }
}

/// Now, and the end of a lease that begins now.
fn term() -> (DateTime<Utc>, DateTime<Utc>) {
    let now = whole_milliseconds(Utc::now());
    (now, now + RUN_LEASE_TERM)
}
