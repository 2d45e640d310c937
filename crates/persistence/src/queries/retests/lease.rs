//! Leases of retests, by which a node takes a retest, saves the new answers, and leaves it.

use chrono::{DateTime, Utc};
use diesel::dsl::exists;
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::Event;
use refract_domain::ids::{NodeId, ResultId, RetestId};
use refract_domain::result::RetestState;

use crate::connections::{for_update, load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::leases::{
    JobLease, LOOKED_AT, LeasedJob, WaitingJob, latest_end, leases_to_take,
};
use crate::queries::retests::RetestRow;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{retest_answers, retests};

/// The states in which a node works on a retest.
const UNDER_WAY: [&str; 2] = [RetestState::Waiting.name(), RetestState::Asking.name()];

/// How a node's work on a retest ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RetestEnd {
    /// The state that the work led to; `None` to leave the retest to another node. A state that a
    /// person set meanwhile stays.
    pub state: Option<RetestState>,
    /// Why the retest failed, for people; saved with the state.
    pub reason: Option<String>,
    /// Flips so far; `None` keeps them.
    pub flips: Option<u64>,
}

#[boxed]
impl Database {
    /// Takes the lease of a retest that waits for a node, the one that waited longest, until a
    /// moment. Leaves out retests that the node holds. `None` when there is none, or when other
    /// nodes were first. Two queries, and one or more transactions of one statement.
    pub async fn take_retest(
        &self,
        node: NodeId,
        held: &[RetestId],
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<Option<LeasedJob<RetestId, RetestRow>>, PersistenceError> {
        let waiting = self.list_waiting_retests(held, now).await?;
        for lease in leases_to_take(waiting, node) {
            if self.take_waiting_retest(lease, now, until).await? {
                let row = self.find_retest(lease.account, lease.job).await?;
                return Ok(row.map(|row| LeasedJob { lease, row }));
            }
        }
        Ok(None)
    }

    /// Retests that wait for a node.
    async fn list_waiting_retests(
        &self,
        held: &[RetestId],
        now: DateTime<Utc>,
    ) -> Result<Vec<WaitingJob<RetestId>>, PersistenceError> {
        let held: Vec<_> = held.iter().copied().map(Bind).collect();
        let query = retests::table
            .filter(retests::state.eq_any(UNDER_WAY))
            .filter(is_free(now))
            .filter(retests::id.ne_all(held))
            .order(retests::changed_at)
            .limit(LOOKED_AT)
            .select((
                retests::id,
                retests::account_id,
                retests::prism_id,
                retests::fence,
                retests::lease_until,
                retests::changed_at,
            ));
        self.load(query).await
    }

    /// Takes a lease if the one before is over, and the retest still waits.
    async fn take_waiting_retest(
        &self,
        taken: JobLease<RetestId>,
        now: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        let waiting = retests::table
            .find(Bind(taken.job))
            .filter(retests::fence.eq(taken.fence - 1))
            .filter(retests::state.eq_any(UNDER_WAY))
            .filter(is_free(now));
        let take = diesel::update(waiting).set((
            retests::state.eq(RetestState::Asking.name()),
            retests::fence.eq(taken.fence),
            retests::lease_holder.eq(Some(taken.node)),
            retests::lease_until.eq(Some(until)),
        ));
        Ok(self.execute(take).await? == 1)
    }

    /// Renews a lease until a moment. Returns the state of the retest now, which a person may have
    /// changed; `None` when the lease was lost to another node. One transaction.
    pub async fn renew_retest_lease(
        &self,
        lease: JobLease<RetestId>,
        until: DateTime<Utc>,
    ) -> Result<Option<RetestState>, PersistenceError> {
        self.begin(async move |mut tx| {
            let update = diesel::update(held(lease)).set(retests::lease_until.eq(Some(until)));
            on!(tx, execute(update))?;
            let state = held(lease).select(retests::state);
            let state: Option<Stored<retests::state>> = on!(tx, first(state)).optional()?;
            tx.commit().await?;
            state.map(|state| Ok(state.try_into()?)).transpose()
        })
        .await
    }

    /// Ends a lease at a moment: saves the flips and, unless a person has changed the state
    /// meanwhile, the new state with its event, whose earlier state is set here. One transaction.
    /// Returns `false`, with nothing saved, when the lease was lost.
    pub async fn end_retest_lease(
        &self,
        lease: JobLease<RetestId>,
        end: RetestEnd,
        at: DateTime<Utc>,
        event: Option<Event>,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let state = for_update(held(lease).select(retests::state));
            let state: Option<String> = on!(tx, get_result(state)).optional()?;
            let Some(state) = state.and_then(|name| RetestState::parse(&name)) else {
                return Ok(false);
            };
            let new = end.state.filter(|_| state == RetestState::Asking);
            let flips = end.flips.and_then(|flips| i64::try_from(flips).ok());
            let update = diesel::update(held(lease)).set((
                retests::changed_at.eq(Bind(at)),
                flips.map(|flips| retests::flips.eq(Some(flips))),
                new.map(|new| retests::state.eq(new.name())),
                new.map(|_| retests::slot.eq(None::<i32>)),
                new.map(|_| retests::ended_at.eq(Some(at))),
                new.map(|_| retests::reason.eq(end.reason)),
                retests::lease_holder.eq(None::<NodeId>),
                retests::lease_until.eq(None::<DateTime<Utc>>),
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

/// A text of a retest.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = retest_answers)]
pub struct RetestTextRow {
    /// The stored result.
    #[diesel(column_name = result_id)]
    pub result: ResultId,
    /// The new answers, as JSON; `None` until they are there.
    pub answers: Option<String>,
    /// Why the model gave no answers.
    pub failure: Option<String>,
}

#[boxed]
impl Database {
    /// Up to `limit` texts of a retest after a result, in the order of their results.
    pub async fn list_retest_texts(
        &self,
        retest: RetestId,
        after: ResultId,
        limit: u32,
    ) -> Result<Vec<RetestTextRow>, PersistenceError> {
        let query = retest_answers::table
            .filter(retest_answers::retest_id.eq(Bind(retest)))
            .filter(retest_answers::result_id.gt(Bind(after)))
            .order(retest_answers::result_id)
            .limit(i64::from(limit));
        load_as!(self, query, RetestTextRow).await
    }

    /// Saves the new answers to a text, as JSON, or why there are none. Returns `false`, with
    /// nothing saved, when the lease was lost, the result was deleted, or its answers are there.
    pub async fn save_retest_answer(
        &self,
        lease: JobLease<RetestId>,
        result: ResultId,
        answer: Result<String, String>,
    ) -> Result<bool, PersistenceError> {
        let (answers, failure) = match answer {
            Ok(answers) => (Some(answers), None),
            Err(failure) => (None, Some(failure)),
        };
        let text = retest_answers::table
            .find((Bind(lease.job), Bind(result)))
            .filter(retest_answers::answers.is_null())
            .filter(exists(held(lease)));
        let save = diesel::update(text).set((
            retest_answers::answers.eq(answers),
            retest_answers::failure.eq(failure),
        ));
        Ok(self.execute(save).await? == 1)
    }
}

/// Whether no node holds a retest at a moment: see [`latest_end`].
#[diesel::dsl::auto_type(no_type_alias)]
fn is_free(now: DateTime<Utc>) -> _ {
    let latest: Option<DateTime<Utc>> = Some(latest_end(now));
    let now: Option<DateTime<Utc>> = Some(now);
    retests::lease_until
        .is_null()
        .or(retests::lease_until.le(now))
        .or(retests::lease_until.gt(latest))
}

/// The retest of a lease, while the lease is held.
#[diesel::dsl::auto_type(no_type_alias)]
fn held(lease: JobLease<RetestId>) -> _ {
    let retest: Bind<RetestId> = Bind(lease.job);
    let fence: i64 = lease.fence;
    let node: Option<NodeId> = Some(lease.node);
    retests::table
        .filter(retests::id.eq(retest))
        .filter(retests::fence.eq(fence))
        .filter(retests::lease_holder.eq(node))
}
