//! New stored retests, with the results that they ask about.

use chrono::{DateTime, Utc};
use diesel::IntoSql as _;
use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel_async::RunQueryDsl;
use refract_domain::event::Event;
use refract_domain::ids::{AccountId, PersonId, PrismId, ResultId, RetestId};
use refract_domain::prism::VersionNumber;
use refract_domain::result::retest::RetestState;

use crate::connections::{in_transaction, is_committed};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::{Bind, Id};
use crate::schema::{results, retest_answers, retests};

/// A retest to be made, in the account, by the actor and at the moment of its event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRetest {
    /// `UUIDv7`.
    pub id: RetestId,
    /// The prism that is asked.
    pub prism: PrismId,
    /// The version that is asked; `None` for the one that answered each text.
    pub version: Option<VersionNumber>,
    /// The name of the model that is asked.
    pub model: String,
    /// What was left out when the texts were drawn, as the use case wrote it.
    pub drawn: String,
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

#[derive(Insertable)]
#[diesel(table_name = retests)]
#[diesel(treat_none_as_default_value = false)]
struct NewRetestColumns {
    #[diesel(serialize_as = Bind<RetestId>)]
    id: RetestId,
    #[diesel(serialize_as = Bind<AccountId>)]
    account_id: AccountId,
    #[diesel(serialize_as = Bind<PrismId>)]
    prism_id: PrismId,
    version: Option<i32>,
    model: String,
    drawn: String,
    state: &'static str,
    slot: Option<i32>,
    made_by: Option<PersonId>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    made_at: DateTime<Utc>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    changed_at: DateTime<Utc>,
    fence: i64,
}

/// The retest of a prism that is under way, and the account's lowest slot that is free; a block's
/// value in a transaction on `c`.
macro_rules! occupied {
    ($c:expr, $account:expr, $prism:expr, $most:expr) => {{
        let under_way = retests::table
            .filter(retests::account_id.eq(Bind($account)))
            .filter(retests::slot.is_not_null())
            .select((retests::id, retests::prism_id, retests::slot));
        let under_way: Vec<(RetestId, PrismId, Option<i32>)> = under_way.load($c).await?;
        let of_prism = under_way.iter().find(|(_, prism, _)| *prism == $prism);
        let is_taken = |slot: &i32| under_way.iter().any(|(_, _, taken)| *taken == Some(*slot));
        let free = (0..$most).find(|slot| !is_taken(slot));
        (of_prism.map(|(retest, _, _)| *retest), free)
    }};
}

pub(super) use occupied;

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
        self.write(async move |mut connection| {
            let mut outcome = CreateRetestOutcome::Created;
            let ended = in_transaction!(connection, |c| {
                let stamp = &event.stamp;
                let slot = match occupied!(c, stamp.account, new.prism, most) {
                    (Some(retest), _) => Err(CreateRetestOutcome::UnderWay(retest)),
                    (None, None) => Err(CreateRetestOutcome::TooMany),
                    (None, Some(slot)) => Ok(slot),
                };
                let slot = match slot {
                    Ok(slot) => slot,
                    Err(refused) => {
                        outcome = refused;
                        return Err(RollbackTransaction);
                    }
                };
                let columns = NewRetestColumns {
                    id: new.id,
                    account_id: stamp.account,
                    prism_id: new.prism,
                    version: new.version.map(VersionNumber::get),
                    model: new.model.clone(),
                    drawn: new.drawn.clone(),
                    state: RetestState::Waiting.name(),
                    slot: Some(slot),
                    made_by: stamp.actor.person(),
                    made_at: stamp.at,
                    changed_at: stamp.at,
                    fence: 0,
                };
                let insert = diesel::insert_into(retests::table).values(columns);
                if insert.on_conflict_do_nothing().execute(c).await? == 0 {
                    outcome = CreateRetestOutcome::Meanwhile;
                    return Err(RollbackTransaction);
                }
                let drawn: Vec<_> = new.results.iter().copied().map(Bind).collect();
                let texts = results::table
                    .filter(results::id.eq_any(drawn))
                    .filter(results::account_id.eq(Bind(stamp.account)))
                    .order(results::id)
                    .select((Bind(new.id).into_sql::<Id>(), results::id));
                let insert = texts
                    .insert_into(retest_answers::table)
                    .into_columns((retest_answers::retest_id, retest_answers::result_id));
                insert.execute(c).await?;
                add_event!(c, event);
                QueryResult::Ok(())
            });
            is_committed(ended)?;
            Ok(outcome)
        })
        .await
    }
}
