//! Changes of retests by people: each names the state that it replaces (compare and swap).

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::result::DatabaseErrorKind::UniqueViolation;
use diesel::result::Error::DatabaseError;
use refract_domain::event::Event;
use refract_domain::ids::{PrismId, RetestId};
use refract_domain::result::retest::RetestState;

use super::new_retest::{CreateRetestOutcome, find_free_slot};
use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::Bind;
use crate::schema::{retest_answers, retests};

/// A change of a retest's state by a person, in the account and at the moment of its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetestUpdate {
    /// The retest.
    pub retest: RetestId,
    /// The state that the retest must have, or nothing is changed.
    pub from: RetestState,
    /// The new state.
    pub to: RetestState,
}

impl Database {
    /// Ends a retest of the event's account in the state of the change, and saves the event. One
    /// transaction. Returns `false` when the retest has another state meanwhile.
    pub async fn stop_retest(
        &self,
        update: RetestUpdate,
        event: Event,
    ) -> Result<bool, PersistenceError> {
        let (account, now) = (event.stamp.account, event.stamp.at);
        self.begin(async move |mut tx| {
            let swapped = retests::table
                .find(Bind(update.retest))
                .filter(retests::account_id.eq(Bind(account)))
                .filter(retests::state.eq(update.from.name()));
            let swap = diesel::update(swapped).set((
                retests::state.eq(update.to.name()),
                retests::slot.eq(None::<i32>),
                retests::changed_at.eq(Bind(now)),
                retests::ended_at.eq(Some(now)),
            ));
            if on!(tx, execute(swap))? == 0 {
                return Ok(false);
            }
            add_event(&mut tx, event).await?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Lets an ended retest of the event's account wait for a node again, clears its failures, and
    /// saves the event, unless its prism has another one under way, or the account has `most` of
    /// them. One transaction. `Meanwhile` when the retest has another state, or another one was first.
    pub async fn continue_retest(
        &self,
        update: RetestUpdate,
        most: i32,
        event: Event,
    ) -> Result<CreateRetestOutcome, PersistenceError> {
        let (account, now) = (event.stamp.account, event.stamp.at);
        self.begin(async move |mut tx| {
            let swapped = || {
                retests::table
                    .find(Bind(update.retest))
                    .filter(retests::account_id.eq(Bind(account)))
                    .filter(retests::state.eq(update.from.name()))
            };
            let found = for_update(swapped().select(retests::prism_id));
            let found: Option<PrismId> = on!(tx, get_result(found)).optional()?;
            let Some(prism) = found else {
                return Ok(CreateRetestOutcome::Meanwhile);
            };
            let slot = match find_free_slot(&mut tx, account, prism, most).await? {
                Ok(slot) => slot,
                Err(refused) => return Ok(refused),
            };
            let failed = retest_answers::table
                .filter(retest_answers::retest_id.eq(Bind(update.retest)))
                .filter(retest_answers::failure.is_not_null());
            let cleared = diesel::update(failed).set(retest_answers::failure.eq(None::<String>));
            on!(tx, execute(cleared))?;
            let swap = diesel::update(swapped()).set((
                retests::state.eq(update.to.name()),
                retests::reason.eq(None::<String>),
                retests::slot.eq(Some(slot)),
                retests::changed_at.eq(Bind(now)),
                retests::ended_at.eq(None::<DateTime<Utc>>),
            ));
            // the constraint refuses this retest where another one took the slot meanwhile
            let swapped = on!(tx, execute(swap));
            if let Err(DatabaseError(UniqueViolation, _)) = swapped {
                return Ok(CreateRetestOutcome::Meanwhile);
            }
            swapped?;
            add_event(&mut tx, event).await?;
            tx.commit().await?;
            Ok(CreateRetestOutcome::Created)
        })
        .await
    }
}
