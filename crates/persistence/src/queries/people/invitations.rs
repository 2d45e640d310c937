//! Invitations: single-use links to join or to choose a new password.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, PersonName, Role, TokenHash};
use refract_domain::event::{Event, EventAction, EventDetail, EventStamp, EventTarget, TargetKind};
use refract_domain::ids::{AccountId, PersonId};

use crate::connections::{Transaction, find_as, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::{add_event, commit_with};
use crate::queries::people::one_time_codes::delete_codes;
use crate::queries::people::passwords::end_with_password;
use crate::queries::people::person::{NO_PASSWORD, role_set};
use crate::queries::people::sessions::{NewSession, insert_session};
use crate::queries::people::sign_in_tries::EmailHash;
use crate::schema::sql_types::{AnyId, Bind};
use crate::schema::stored::Stored;
use crate::schema::{events, invitations, people};

/// A link to be saved.
#[derive(Clone, Copy, Debug)]
pub struct NewInvitation {
    /// The hash of the link's token; the token itself is not stored.
    pub hash: TokenHash,
    /// When the link was made.
    pub created_at: DateTime<Utc>,
    /// Until when the link is valid.
    pub expires_at: DateTime<Utc>,
}

/// A person to be invited.
#[derive(Clone, Debug)]
pub struct NewPerson {
    /// `UUIDv7`; ignored when the person was invited before.
    pub id: PersonId,
    /// The account that the person is to join.
    pub account: AccountId,
    /// The address by which the person will sign in.
    pub email: Email,
    /// What the person may do.
    pub role: Role,
}

/// The outcome of an invitation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InviteOutcome {
    /// The link was saved for this person and replaces any earlier one.
    Invited(PersonId),
    /// The address belongs to a person of the account who has joined; nothing was saved.
    HasJoined,
    /// The address belongs to a person of another account; nothing was saved.
    OfOtherAccount,
}

/// A valid link, as shown to the person who opens it.
#[derive(Clone, Debug, PartialEq, Eq, Queryable, Selectable)]
#[diesel(table_name = people)]
pub struct OpenInvitation {
    /// The account of the person.
    #[diesel(column_name = account_id)]
    pub account: AccountId,
    /// The person whom the link is for.
    #[diesel(column_name = id)]
    pub person: PersonId,
    /// The person's address.
    #[diesel(deserialize_as = Stored<people::email>)]
    pub email: Email,
    /// The name that the person chose; `None` when the person has not joined yet.
    pub name: Option<String>,
    /// What the person may do.
    #[diesel(deserialize_as = Stored<people::role>)]
    pub role: Role,
    /// Until when the link is valid.
    #[diesel(select_expression = invitations::expires_at)]
    pub expires_at: DateTime<Utc>,
}

/// Saves a link for a person in place of any earlier one, in a transaction that has locked the
/// person.
async fn replace_link(
    tx: &mut Transaction,
    person: PersonId,
    link: NewInvitation,
) -> QueryResult<()> {
    let before = invitations::table.filter(invitations::person_id.eq(Bind(person)));
    on!(tx, execute(diesel::delete(before)))?;
    let insert = diesel::insert_into(invitations::table).values((
        invitations::hash.eq(link.hash.bytes().to_vec()),
        invitations::person_id.eq(Bind(person)),
        invitations::created_at.eq(Bind(link.created_at)),
        invitations::expires_at.eq(Bind(link.expires_at)),
    ));
    on!(tx, execute(insert))?;
    Ok(())
}

#[boxed]
impl Database {
    /// Creates a person who has not joined, or finds the person of an earlier invitation and sets
    /// this role; then saves a link for them in place of any earlier one. One transaction, with an
    /// event for each change.
    pub async fn invite_person(
        &self,
        new: &NewPerson,
        link: NewInvitation,
        stamp: EventStamp,
    ) -> Result<InviteOutcome, PersistenceError> {
        let NewPerson {
            id,
            account,
            email,
            role,
        } = new.clone();
        let email = email.as_str().to_owned();
        self.begin(async move |mut tx| {
            let values = (
                people::id.eq(Bind(id)),
                people::account_id.eq(Bind(account)),
                people::email.eq(email.clone()),
                people::role.eq(role.name()),
                people::created_at.eq(Bind(link.created_at)),
            );
            let of_email = || {
                people::table
                    .filter(people::email.eq(email.clone()))
                    .filter(people::removed_at.is_null())
            };
            let invited_before = || {
                of_email()
                    .filter(people::account_id.eq(Bind(account)))
                    .filter(people::password.is_null())
            };
            let insert = diesel::insert_into(people::table).values(values);
            let person = if on!(tx, execute(insert.on_conflict_do_nothing()))? == 1 {
                add_event(&mut tx, invited(stamp, id, role)).await?;
                Some(id)
            } else {
                // locks the person's row, so that of two concurrent links one replaces the other
                let before = for_update(invited_before().select((people::id, people::role)));
                let before: Option<(PersonId, String)> = on!(tx, get_result(before)).optional()?;
                if let Some((person, before)) = &before {
                    let update = diesel::update(invited_before()).set(people::role.eq(role.name()));
                    on!(tx, execute(update))?;
                    let further = stamp.further();
                    add_event(&mut tx, invited(stamp, *person, role)).await?;
                    let before = Role::named(before).filter(|before| *before != role);
                    if let Some(before) = before {
                        add_event(&mut tx, role_set(further, *person, before, role)).await?;
                    }
                }
                before.map(|(person, _)| person)
            };
            if let Some(person) = person {
                replace_link(&mut tx, person, link).await?;
                tx.commit().await?;
                return Ok(InviteOutcome::Invited(person));
            }
            let query = of_email().select(people::account_id);
            let holder: Option<AccountId> = on!(tx, get_result(query)).optional()?;
            match holder {
                Some(holder) if holder == account => Ok(InviteOutcome::HasJoined),
                Some(_) => Ok(InviteOutcome::OfOtherAccount),
                None => Err(PersistenceError::Failed(
                    "the person was removed at this moment".to_owned(),
                )),
            }
        })
        .await
    }

    /// Saves a new link for a person of the stamp's account in place of any earlier one, with an
    /// event of this action. Returns whether there is such a person. One transaction.
    pub async fn renew_link(
        &self,
        person: PersonId,
        link: NewInvitation,
        action: EventAction,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        let account = stamp.account;
        let event = stamp.event(action, EventTarget::Person(person));
        self.begin(async move |mut tx| {
            let known = people::table
                .filter(people::id.eq(Bind(person)))
                .filter(people::account_id.eq(Bind(account)))
                .filter(people::removed_at.is_null());
            // locks the person's row, so that of two concurrent links one replaces the other
            let locking = diesel::update(known).set(people::email.eq(people::email));
            if on!(tx, execute(locking))? == 0 {
                return Ok(false);
            }
            replace_link(&mut tx, person, link).await?;
            commit_with(tx, event).await?;
            Ok(true)
        })
        .await
    }

    /// Finds a valid link.
    pub async fn find_invitation(
        &self,
        hash: TokenHash,
        now: DateTime<Utc>,
    ) -> Result<Option<OpenInvitation>, PersistenceError> {
        let query = invitations::table
            .inner_join(people::table.on(people::id.eq(invitations::person_id)))
            .filter(invitations::hash.eq(hash.bytes().to_vec()))
            .filter(invitations::expires_at.gt(Bind(now)))
            .filter(people::removed_at.is_null());
        find_as!(self, query, OpenInvitation).await
    }

    /// Uses up a valid link of a person who has joined, and begins a session. Returns whether the
    /// link was valid: of several concurrent uses, one succeeds. One transaction, with an event of
    /// the sign-in, and another one if the person's one-time codes are removed.
    pub async fn begin_session_by_link(
        &self,
        hash: TokenHash,
        session: NewSession,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let link = || invitations::table.filter(invitations::hash.eq(hash.bytes().to_vec()));
            let person = link()
                .inner_join(people::table.on(people::id.eq(invitations::person_id)))
                .filter(invitations::expires_at.gt(Bind(session.now)))
                .filter(people::password.is_not_null())
                .filter(people::removed_at.is_null())
                .select(people::id);
            let person: Option<PersonId> = on!(tx, first(person)).optional()?;
            let Some(person) = person else {
                return Ok(false);
            };
            if on!(tx, execute(diesel::delete(link())))? == 0 {
                return Ok(false);
            }
            insert_session(&mut tx, session, person).await?;
            let further = stamp.further().noted("by a link");
            let target = EventTarget::Person(person);
            add_event(&mut tx, stamp.event(EventAction::SignedIn, target)).await?;
            delete_codes(&mut tx, person, further).await?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }
}

fn invited(stamp: EventStamp, person: PersonId, role: Role) -> Event {
    Event {
        to: Some(role.into()),
        ..stamp.event(EventAction::PersonInvited, EventTarget::Person(person))
    }
}

#[boxed]
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
