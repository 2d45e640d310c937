//! Accepting a link: a person joins or sets a new password.

use diesel::prelude::*;
use refract_domain::account::person::{Email, PersonName};
use refract_domain::account::role::Role;
use refract_domain::account::secret_hash::TokenHash;
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget, TargetKind};
use refract_domain::ids::PersonId;

use crate::connections::{for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::people::one_time_codes::delete_codes;
use crate::queries::people::passwords::end_with_password;
use crate::queries::people::person::NO_PASSWORD;
use crate::queries::people::sessions::{NewSession, insert_session};
use crate::queries::people::sign_in_tries::EmailHash;
use crate::schema::sql_types::{AnyId, Bind};
use crate::schema::{events, invitations, people};

impl Database {
    /// Accepts a valid link: the person gets this name and password hash, all their sessions end,
    /// and a new one begins. The sign-in tries for their address and the browsers that they were
    /// known by are deleted. Returns whether the link was valid: of several concurrent uses, one
    /// succeeds. Without a password the person signs in by links from then on.
    ///
    /// One transaction, with an event by the person: they joined or, if they had joined before, set
    /// their password. A new password is to be announced to the person, unless they made the link
    /// themselves. Their one-time codes are removed, with another event.
    pub async fn accept_invitation(
        &self,
        hash: TokenHash,
        name: &PersonName,
        password: Option<&str>,
        session: NewSession,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        let name = name.as_str().to_owned();
        let by_link_since = password.is_none().then_some(stamp.at);
        let password = password.unwrap_or(NO_PASSWORD).to_owned();
        self.begin(async move |mut tx| {
            let link = || {
                invitations::table
                    .filter(invitations::hash.eq(hash.bytes().to_vec()))
                    .filter(invitations::expires_at.gt(Bind(session.now)))
            };
            let person: Option<PersonId> =
                on!(tx, first(link().select(invitations::person_id))).optional()?;
            let Some(person) = person else {
                return Ok(false);
            };
            let joining = || {
                people::table
                    .filter(people::id.eq(Bind(person)))
                    .filter(people::removed_at.is_null())
            };
            // the person's row is locked before the link is deleted, as everywhere
            let before =
                joining().select((people::email, people::role, people::password.is_not_null()));
            let before: Option<(String, String, bool)> =
                on!(tx, get_result(for_update(before))).optional()?;
            let Some((email, role, has_joined)) = before else {
                return Ok(false);
            };
            let chosen = (
                people::name.eq(Some(name)),
                people::password.eq(Some(password)),
                people::by_link_since.eq(by_link_since),
            );
            on!(tx, execute(diesel::update(joining()).set(chosen)))?;
            if on!(tx, execute(diesel::delete(link())))? == 0 {
                return Ok(false);
            }
            if has_joined {
                let made_by = events::table
                    .filter(events::account_id.eq(Bind(stamp.account)))
                    .filter(events::target_kind.eq(TargetKind::Person.name()))
                    .filter(events::target_id.eq(Bind(AnyId::new(person.uuid()))))
                    .filter(events::action.eq(EventAction::LinkRenewed.name()))
                    .order(events::id.desc())
                    .select(events::actor_id);
                let made_by: Option<AnyId> = on!(tx, first(made_by)).optional()?;
                if made_by != Some(AnyId::new(person.uuid())) {
                    let unseen = joining().filter(people::first_unseen_event.is_null());
                    let announced = people::first_unseen_event.eq(Some(stamp.id));
                    on!(tx, execute(diesel::update(unseen).set(announced)))?;
                }
            }
            let further = stamp.further().noted("by a link");
            add_event(&mut tx, taken_up(stamp, person, has_joined, &role)).await?;
            delete_codes(&mut tx, person, further).await?;
            end_with_password(&mut tx, person, EmailHash::of(&Email::saved(email))).await?;
            insert_session(&mut tx, session, person).await?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }
}

fn taken_up(stamp: EventStamp, person: PersonId, had_joined: bool, role: &str) -> Event {
    let target = EventTarget::Person(person);
    if had_joined {
        return stamp.event(EventAction::PasswordSet, target);
    }
    Event {
        to: Role::named(role).map(EventDetail::from),
        ..stamp.event(EventAction::PersonJoined, target)
    }
}
