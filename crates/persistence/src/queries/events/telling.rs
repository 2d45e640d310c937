//! Events for the pages of prisms and people: the changes of a prism, and each person's last
//! action.

use diesel::prelude::*;
use refract_domain::event::{ActorKind, Event, EventAction, TargetKind};
use refract_domain::ids::{AccountId, EventId, PrismId};

use crate::connections::{load_as, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::EventColumns;
use crate::schema::sql_types::{AnyId, Bind};
use crate::schema::{events, people};

/// Actions that change a prism itself.
const OF_PRISM: [EventAction; 7] = [
    EventAction::PrismCreated,
    EventAction::VersionSaved,
    EventAction::PrismRenamed,
    EventAction::PrismArchived,
    EventAction::PrismRestored,
    EventAction::LensSet,
    EventAction::LensReset,
];
/// Signing in and out, which do not count as a person's last action.
const OF_BEING_THERE: [EventAction; 2] = [EventAction::SignedIn, EventAction::SessionEnded];

impl Database {
    /// The newest changes of a prism, its versions and its lens, at most `limit`, newest first.
    /// Exports, runs and purges are not changes.
    pub async fn list_prism_events(
        &self,
        account: AccountId,
        prism: PrismId,
        limit: u32,
    ) -> Result<Vec<Event>, PersistenceError> {
        let query = events::table
            .filter(events::account_id.eq(Bind(account)))
            .filter(events::target_kind.eq(TargetKind::Prism.name()))
            .filter(events::target_id.eq(Bind(AnyId::new(prism.uuid()))))
            .filter(events::action.eq_any(OF_PRISM.map(EventAction::name)))
            .order(events::id.desc())
            .limit(i64::from(limit));
        load_as!(self, query, EventColumns).await
    }

    /// The newest event of each person of an account, apart from signing in and out, in no
    /// particular order. Removed people are left out. At most two queries.
    pub async fn list_last_events(
        &self,
        account: AccountId,
    ) -> Result<Vec<Event>, PersistenceError> {
        self.read(async move |mut connection| {
            let last = events::table
                .filter(events::account_id.eq(Bind(account)))
                .filter(events::actor_kind.eq(ActorKind::Person.name()))
                .filter(events::actor_id.eq(people::id))
                .filter(events::action.ne_all(OF_BEING_THERE.map(EventAction::name)))
                .order(events::id.desc())
                .limit(1)
                .select(events::id)
                .single_value();
            let query = people::table
                .filter(people::account_id.eq(Bind(account)))
                .filter(people::removed_at.is_null())
                .select(last);
            let ids: Vec<Option<EventId>> = on!(connection, load(query))?;
            let ids: Vec<_> = ids.into_iter().flatten().map(Bind).collect();
            if ids.is_empty() {
                return Ok(Vec::new());
            }
            let query = events::table.filter(events::id.eq_any(ids));
            let found: Vec<EventColumns> = on!(connection, load(query) as EventColumns)?;
            found.into_iter().map(Event::try_from).collect()
        })
        .await
    }
}
