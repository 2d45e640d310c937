//! What owners and operators change about the one-time codes of others.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, PersonId};

use super::one_time_codes::delete_codes;
use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::Bind;
use crate::schema::{accounts, people};

#[boxed]
impl Database {
    /// Removes the codes of a person of the stamp's account, with an event if they were on. Returns
    /// whether there is such a person. One transaction. A removal by another person is later
    /// announced to the person.
    pub async fn remove_codes(
        &self,
        person: PersonId,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        let is_by_another = stamp.actor.person() != Some(person);
        self.begin(async move |mut tx| {
            let (id, account) = (stamp.id, stamp.account);
            let one = || {
                people::table
                    .filter(people::id.eq(Bind(person)))
                    .filter(people::account_id.eq(Bind(account)))
                    .filter(people::removed_at.is_null())
            };
            let there = for_update(one().select(people::id));
            let there: Option<PersonId> = on!(tx, get_result(there)).optional()?;
            if there.is_none() {
                return Ok(false);
            }
            if delete_codes(&mut tx, person, stamp).await? && is_by_another {
                let unseen = one().filter(people::first_unseen_event.is_null());
                let announced = people::first_unseen_event.eq(Some(id));
                on!(tx, execute(diesel::update(unseen).set(announced)))?;
            }
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Whether the people of an account who sign in by password need one-time codes.
    pub async fn are_codes_required(&self, account: AccountId) -> Result<bool, PersistenceError> {
        let query = accounts::table
            .filter(accounts::id.eq(Bind(account)))
            .select(accounts::codes_required_at.is_not_null());
        let found: Option<bool> = self.find(query).await?;
        Ok(found.unwrap_or_default())
    }

    /// Sets whether the people of the stamp's account who sign in by password need one-time codes.
    /// One transaction, with an event if that changes.
    pub async fn set_codes_required(
        &self,
        are_required: bool,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        self.begin(async move |mut tx| {
            let account = accounts::table.filter(accounts::id.eq(Bind(stamp.account)));
            let changed = if are_required {
                let optional = account.filter(accounts::codes_required_at.is_null());
                let required = accounts::codes_required_at.eq(Some(stamp.at));
                on!(tx, execute(diesel::update(optional).set(required)))?
            } else {
                let required = account.filter(accounts::codes_required_at.is_not_null());
                let optional = accounts::codes_required_at.eq(None::<DateTime<Utc>>);
                on!(tx, execute(diesel::update(required).set(optional)))?
            };
            if changed > 0 {
                add_event(&mut tx, requirement_set(stamp, are_required)).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}

fn requirement_set(stamp: EventStamp, are_required: bool) -> Event {
    let (from, to) = if are_required {
        ("optional", "required")
    } else {
        ("required", "optional")
    };
    let target = EventTarget::Account(stamp.account);
    Event {
        from: Some(EventDetail::from(from)),
        to: Some(EventDetail::from(to)),
        ..stamp.event(EventAction::CodesRequirementSet, target)
    }
}
