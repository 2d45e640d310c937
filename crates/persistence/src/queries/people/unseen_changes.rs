//! Changes of a person's role, password or one-time codes by another person, and links with the sign-in
//! provider, which are announced at the next sign-in.

use diesel::prelude::*;
use refract_domain::event::{EventAction, TargetKind};
use refract_domain::ids::{AccountId, EventId, PersonId};

use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::schema::sql_types::{AnyId, Bind};
use crate::schema::{events, people};

impl Database {
    /// Records that the changes up to an event were announced to a person; later changes stay
    /// pending. One transaction.
    pub async fn save_seen(
        &self,
        account: AccountId,
        person: PersonId,
        up_to: EventId,
    ) -> Result<(), PersistenceError> {
        self.begin(async move |mut tx| {
            let one = || {
                people::table
                    .filter(people::id.eq(Bind(person)))
                    .filter(people::account_id.eq(Bind(account)))
            };
            // locks the person against other changes meanwhile
            let unseen = for_update(one().select(people::first_unseen_event));
            let unseen: Option<Option<EventId>> = on!(tx, get_result(unseen)).optional()?;
            if unseen.flatten().is_some_and(|first| first <= up_to) {
                let by_another = events::actor_id
                    .ne(Bind(AnyId::new(person.uuid())))
                    .or(events::action.eq(EventAction::PasswordSet.name()))
                    .or(events::action.eq(EventAction::ProviderLinked.name()));
                let changes = [
                    EventAction::ProviderLinked,
                    EventAction::RoleSet,
                    EventAction::PasswordSet,
                    EventAction::CodesRemoved,
                ];
                let next = events::table
                    .filter(events::account_id.eq(Bind(account)))
                    .filter(events::target_kind.eq(TargetKind::Person.name()))
                    .filter(events::target_id.eq(Bind(AnyId::new(person.uuid()))))
                    .filter(events::id.gt(Bind(up_to)))
                    .filter(events::action.eq_any(changes.map(EventAction::name)))
                    .filter(by_another)
                    .order(events::id)
                    .select(events::id);
                let next: Option<EventId> = on!(tx, first(next)).optional()?;
                let update = diesel::update(one()).set(people::first_unseen_event.eq(next));
                on!(tx, execute(update))?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}
