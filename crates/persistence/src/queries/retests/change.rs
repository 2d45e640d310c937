//! Retests are made, and changed by people: each change names the state that it replaces (compare and
//! swap).

use chrono::{DateTime, Utc};
use diesel::IntoSql as _;
use diesel::prelude::*;
use diesel::result::DatabaseErrorKind::UniqueViolation;
use diesel::result::Error::DatabaseError;
use refract_boxed_futures::boxed;
use refract_domain::event::Event;
use refract_domain::ids::{AccountId, PrismId, ResultId, RetestId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::{DrawnTexts, RetestState};

use crate::connections::{Transaction, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::schema::sql_types::{Bind, Id};
use crate::schema::stored::to_json;
use crate::schema::{results, retest_answers, retests};

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

#[boxed]
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
            commit_with(tx, event).await?;
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
            commit_with(tx, event).await?;
            Ok(CreateRetestOutcome::Created)
        })
        .await
    }
}

/// A retest to be made, in the account, by the actor and at the moment of its event.
#[derive(Clone, Debug, PartialEq)]
pub struct NewRetest {
    /// `UUIDv7`.
    pub id: RetestId,
    /// The prism that is asked.
    pub prism: PrismId,
    /// The saved version that is asked; `None` for a draft, or for the one that answered each text.
    pub version: Option<VersionNumber>,
    /// The name of the model that is asked.
    pub model: String,
    /// What was found when the texts were drawn.
    pub drawn: DrawnTexts,
    /// The results whose texts are asked about, of the account.
    pub results: Vec<ResultId>,
}

/// The outcome of making a retest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateRetestOutcome {
    /// The retest waits for a node.
    Created,
    /// This retest of the prism is under way.
    UnderWay(RetestId),
    /// The account has as many retests under way as it may have.
    TooMany,
    /// Another retest was made or continued meanwhile: try again.
    Meanwhile,
}

/// The lowest slot of an account that is free for a retest of a prism. The error is
/// [`CreateRetestOutcome::UnderWay`] or [`CreateRetestOutcome::TooMany`].
pub(super) async fn find_free_slot(
    tx: &mut Transaction,
    account: AccountId,
    prism: PrismId,
    most: i32,
) -> QueryResult<Result<i32, CreateRetestOutcome>> {
    let under_way = retests::table
        .filter(retests::account_id.eq(Bind(account)))
        .filter(retests::slot.is_not_null())
        .select((retests::id, retests::prism_id, retests::slot));
    let under_way: Vec<(RetestId, PrismId, Option<i32>)> = on!(tx, load(under_way))?;
    if let Some((retest, _, _)) = under_way.iter().find(|(_, of, _)| *of == prism) {
        return Ok(Err(CreateRetestOutcome::UnderWay(*retest)));
    }
    let is_taken = |slot: &i32| under_way.iter().any(|(_, _, taken)| *taken == Some(*slot));
    let free = (0..most).find(|slot| !is_taken(slot));
    Ok(free.ok_or(CreateRetestOutcome::TooMany))
}

#[boxed]
impl Database {
    /// Saves a new retest in the state `waiting`, with its event, unless the prism has one under
    /// way, or the account has `most` of them. Results that were deleted meanwhile are left out.
    /// One transaction.
    pub async fn create_retest(
        &self,
        new: NewRetest,
        most: i32,
        event: Event,
    ) -> Result<CreateRetestOutcome, PersistenceError> {
        self.begin(async move |mut tx| {
            let stamp = &event.stamp;
            let slot = match find_free_slot(&mut tx, stamp.account, new.prism, most).await? {
                Ok(slot) => slot,
                Err(refused) => return Ok(refused),
            };
            let insert = diesel::insert_into(retests::table).values((
                retests::id.eq(Bind(new.id)),
                retests::account_id.eq(Bind(stamp.account)),
                retests::prism_id.eq(Bind(new.prism)),
                retests::version.eq(new.version.map(VersionNumber::get)),
                retests::model.eq(new.model),
                retests::drawn.eq(to_json(&new.drawn)?),
                retests::state.eq(RetestState::Waiting.name()),
                retests::slot.eq(Some(slot)),
                retests::made_by.eq(stamp.actor.person()),
                retests::made_at.eq(Bind(stamp.at)),
                retests::changed_at.eq(Bind(stamp.at)),
                retests::fence.eq(0),
            ));
            if on!(tx, execute(insert.on_conflict_do_nothing()))? == 0 {
                return Ok(CreateRetestOutcome::Meanwhile);
            }
            let drawn: Vec<_> = new.results.into_iter().map(Bind).collect();
            let texts = results::table
                .filter(results::id.eq_any(drawn))
                .filter(results::account_id.eq(Bind(stamp.account)))
                .order(results::id)
                .select((Bind(new.id).into_sql::<Id>(), results::id));
            let insert = texts
                .insert_into(retest_answers::table)
                .into_columns((retest_answers::retest_id, retest_answers::result_id));
            on!(tx, execute(insert))?;
            commit_with(tx, event).await?;
            Ok(CreateRetestOutcome::Created)
        })
        .await
    }
}
