//! Stops and continues stored retests.

use refract_domain::event::{Event, EventAction, EventDetail, EventTarget};
use refract_domain::ids::RetestId;
use refract_domain::result::retest::RetestChange;
use refract_persistence::{CreateRetestOutcome, RetestUpdate};

use super::{MOST_RETESTS_UNDER_WAY, Retests};
use crate::InternalError;
use crate::people::account_actor::AccountActor;

/// Attempts at a change while a node or another person changes the state.
const ATTEMPTS: usize = 8;

/// The outcome of a person's change of a stored retest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeRetestOutcome {
    /// The change was saved.
    Changed,
    /// The account has no such retest.
    NotFound,
    /// The retest is in a state that does not allow the change, or has nothing left to ask.
    NotPossible,
    /// Another retest of the prism is under way.
    UnderWay(RetestId),
    /// The account has as many retests under way as it may have.
    TooMany,
}

impl Retests<'_> {
    /// Stops a retest, or lets an ended one ask about the texts without new answers. A node that
    /// works on the retest notices when it next renews its lease.
    pub async fn change(
        self,
        actor: &AccountActor,
        retest: RetestId,
        change: RetestChange,
    ) -> Result<ChangeRetestOutcome, InternalError> {
        let database = &self.refract.database;
        for _ in 0..ATTEMPTS {
            let Some(found) = self.find(actor.account(), retest).await? else {
                return Ok(ChangeRetestOutcome::NotFound);
            };
            let is_possible = change == RetestChange::Interrupt || found.can_continue();
            let to = found.state.after(change).filter(|_| is_possible);
            let Some(to) = to else {
                return Ok(ChangeRetestOutcome::NotPossible);
            };
            let action = match change {
                RetestChange::Interrupt => EventAction::RetestStopped,
                RetestChange::Continue => EventAction::RetestContinued,
            };
            let stamp = actor.event_stamp().noted(EventDetail::retest(retest));
            let event = Event {
                from: Some(found.state.into()),
                to: Some(to.into()),
                ..stamp.event(action, EventTarget::Prism(found.prism))
            };
            let update = RetestUpdate {
                retest,
                from: found.state,
                to,
            };
            let outcome = match change {
                RetestChange::Interrupt => {
                    let is_stopped = database.stop_retest(update, event).await?;
                    if is_stopped {
                        CreateRetestOutcome::Created
                    } else {
                        CreateRetestOutcome::Meanwhile
                    }
                }
                RetestChange::Continue => {
                    let most = MOST_RETESTS_UNDER_WAY;
                    database.continue_retest(update, most, event).await?
                }
            };
            match outcome {
                CreateRetestOutcome::Created => return Ok(ChangeRetestOutcome::Changed),
                CreateRetestOutcome::UnderWay(other) => {
                    return Ok(ChangeRetestOutcome::UnderWay(other));
                }
                CreateRetestOutcome::TooMany => return Ok(ChangeRetestOutcome::TooMany),
                CreateRetestOutcome::Meanwhile => {}
            }
        }
        Ok(ChangeRetestOutcome::NotPossible)
    }
}
