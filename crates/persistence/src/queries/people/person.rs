//! People of the app. Their rows are never deleted, since changes name who made them. A removed
//! person has no session and no link, and their address is free again.
//!
//! Changes of a person's role, password or one-time codes by another person, and links with the
//! sign-in provider, are announced at the next sign-in.

use chrono::{DateTime, Utc};
use diesel::dsl::exists;
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, PersonName, Role};
use refract_domain::event::{Event, EventAction, EventStamp, EventTarget, TargetKind};
use refract_domain::ids::{AccountId, EventId, PersonId};

use crate::connections::{Transaction, for_update, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::{AnyId, Bind};
use crate::schema::stored::Stored;
use crate::schema::{
    accounts, events, invitations, known_browsers, one_time_codes, people, sessions,
};

/// What people have in the place of a password hash who sign in by a provider or by links only: they
/// have joined, and no password fits.
pub(super) const NO_PASSWORD: &str = "*";

/// The names by which a person is shown.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct PersonNameRow {
    /// The person's id.
    pub id: PersonId,
    /// The address that the person was invited by, in lower case.
    pub email: String,
    /// The name that the person chose; `None` until then.
    pub name: Option<String>,
}

/// A person of an account, who was not removed.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct Person {
    /// `UUIDv7`.
    pub id: PersonId,
    /// The address by which the person signs in.
    #[diesel(deserialize_as = Stored<people::email>)]
    pub email: Email,
    /// The name that the person chose; `None` until the person has joined.
    pub name: Option<String>,
    /// What the person may do.
    #[diesel(deserialize_as = Stored<people::role>)]
    pub role: Role,
    /// When the person was first invited.
    pub created_at: DateTime<Utc>,
    /// Until when the person's link is valid; `None` when there is no link.
    pub link_expires_at: Option<DateTime<Utc>>,
    /// When the person's sessions were last used, to the hour; `None` when nobody is signed in.
    pub last_used_at: Option<DateTime<Utc>>,
    /// Whether the person's sign-in needs a one-time code.
    pub has_codes: bool,
}

/// The outcome of a change to a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PersonOutcome {
    /// The change was saved.
    Saved,
    /// The account has no such person.
    NotFound,
    /// The account would be left without an owner who has joined; nothing was saved.
    LastOwner,
}

/// A change to a person.
#[derive(Clone, Copy)]
enum PersonChange {
    Removal,
    Role(Role),
}

/// Locks a person until the transaction ends. Returns whether there is such a person, who was not
/// removed.
pub(super) async fn lock_person(tx: &mut Transaction, person: PersonId) -> QueryResult<bool> {
    let one = people::table
        .filter(people::id.eq(Bind(person)))
        .filter(people::removed_at.is_null())
        .select(people::id);
    let there: Option<PersonId> = on!(tx, get_result(for_update(one))).optional()?;
    Ok(there.is_some())
}

#[boxed]
impl Database {
    /// The names of these people of the account, removed ones included, in no particular order. A
    /// few thousand ids at most.
    pub async fn list_person_names(
        &self,
        account: AccountId,
        people: &[PersonId],
    ) -> Result<Vec<PersonNameRow>, PersistenceError> {
        let ids: Vec<_> = people.iter().copied().map(Bind).collect();
        let query = people::table
            .filter(people::account_id.eq(Bind(account)))
            .filter(people::id.eq_any(ids))
            .select((people::id, people::email, people::name));
        self.load(query).await
    }

    /// The people of an account in the order in which they were invited, without removed ones.
    pub async fn list_people(&self, account: AccountId) -> Result<Vec<Person>, PersistenceError> {
        let last_used = sessions::table
            .filter(sessions::person_id.eq(people::id))
            .order(sessions::last_used_at.desc())
            .limit(1)
            .select(sessions::last_used_at)
            .single_value();
        let codes = one_time_codes::table
            .filter(one_time_codes::person_id.eq(people::id))
            .filter(one_time_codes::on_since.is_not_null());
        let query = people::table
            .left_join(invitations::table.on(invitations::person_id.eq(people::id)))
            .filter(people::account_id.eq(Bind(account)))
            .filter(people::removed_at.is_null())
            .order(people::id)
            .select((
                people::id,
                people::email,
                people::name,
                people::role,
                people::created_at,
                invitations::expires_at.nullable(),
                last_used,
                exists(codes),
            ));
        self.load(query).await
    }

    /// Whether any account has people, without removed ones.
    pub async fn has_people(&self) -> Result<bool, PersistenceError> {
        let query = people::table
            .filter(people::removed_at.is_null())
            .select(people::id)
            .limit(1);
        let any: Option<PersonId> = self.find(query).await?;
        Ok(any.is_some())
    }

    /// Saves a new name of a person who has joined, unless they were removed or have that name
    /// already. One transaction, with an event that holds neither name.
    pub async fn set_person_name(
        &self,
        person: PersonId,
        name: &PersonName,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        let name = name.as_str().to_owned();
        self.begin(async move |mut tx| {
            let is_another = people::name.is_null().or(people::name.ne(name.clone()));
            let one = people::table
                .filter(people::id.eq(Bind(person)))
                .filter(people::account_id.eq(Bind(stamp.account)))
                .filter(people::password.is_not_null())
                .filter(people::removed_at.is_null())
                .filter(is_another);
            let update = diesel::update(one).set(people::name.eq(Some(name)));
            if on!(tx, execute(update))? > 0 {
                let target = EventTarget::Person(person);
                add_event(&mut tx, stamp.event(EventAction::NameSet, target)).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }

    /// Removes a person of the stamp's account with their sessions, their link and the browsers
    /// that they are known by, unless the account would be left without an owner who has joined.
    /// One transaction, with an event.
    pub async fn remove_person(
        &self,
        person: PersonId,
        stamp: EventStamp,
    ) -> Result<PersonOutcome, PersistenceError> {
        self.change_person(person, PersonChange::Removal, stamp)
            .await
    }

    /// Gives a person of the stamp's account another role, with an event, unless the account would
    /// be left without an owner who has joined. A person who has the role already is left
    /// unchanged. One transaction. A change by another person is later announced to a person who
    /// has joined.
    pub async fn set_person_role(
        &self,
        person: PersonId,
        role: Role,
        stamp: EventStamp,
    ) -> Result<PersonOutcome, PersistenceError> {
        self.change_person(person, PersonChange::Role(role), stamp)
            .await
    }

    async fn change_person(
        &self,
        person: PersonId,
        change: PersonChange,
        stamp: EventStamp,
    ) -> Result<PersonOutcome, PersistenceError> {
        let (account, now, id) = (stamp.account, stamp.at, stamp.id);
        let is_by_another = stamp.actor.person() != Some(person);
        self.begin(async move |mut tx| {
            let of_account = || {
                people::table
                    .filter(people::account_id.eq(Bind(account)))
                    .filter(people::removed_at.is_null())
            };
            let one = || of_account().filter(people::id.eq(Bind(person)));
            let joined_owners = || {
                of_account()
                    .filter(people::role.eq(Role::Owner.name()))
                    .filter(people::password.is_not_null())
                    .select(people::id)
            };
            // the account's row is the lock between owners who demote each other
            let locking = diesel::update(accounts::table.find(Bind(account)))
                .set(accounts::name.eq(accounts::name));
            on!(tx, execute(locking))?;
            let was_owner = joined_owners().filter(people::id.eq(Bind(person)));
            let was_owner: Option<PersonId> = on!(tx, first(was_owner)).optional()?;
            let before = for_update(one().select(people::role));
            let before: Option<String> = on!(tx, get_result(before)).optional()?;
            let Some(before) = before.and_then(|name| Role::named(&name)) else {
                return Ok(PersonOutcome::NotFound);
            };
            match change {
                PersonChange::Role(role) if role == before => {}
                PersonChange::Role(role) => {
                    let update = diesel::update(one()).set(people::role.eq(role.name()));
                    on!(tx, execute(update))?;
                    add_event(&mut tx, role_set(stamp, person, before, role)).await?;
                    if is_by_another {
                        // a person who has not joined never had another role
                        let unseen = one()
                            .filter(people::password.is_not_null())
                            .filter(people::first_unseen_event.is_null());
                        let announced = people::first_unseen_event.eq(Some(id));
                        on!(tx, execute(diesel::update(unseen).set(announced)))?;
                    }
                }
                PersonChange::Removal => {
                    let update = diesel::update(one()).set(people::removed_at.eq(Some(now)));
                    on!(tx, execute(update))?;
                    // no link, no session and no browser outlives its person
                    let ended = sessions::table.filter(sessions::person_id.eq(Bind(person)));
                    on!(tx, execute(diesel::delete(ended)))?;
                    let links = invitations::table.filter(invitations::person_id.eq(Bind(person)));
                    on!(tx, execute(diesel::delete(links)))?;
                    let known =
                        known_browsers::table.filter(known_browsers::person_id.eq(Bind(person)));
                    on!(tx, execute(diesel::delete(known)))?;
                    let codes = one_time_codes::table.find(Bind(person));
                    on!(tx, execute(diesel::delete(codes)))?;
                    add_event(&mut tx, removed_person(stamp, person, before)).await?;
                }
            }
            let owner: Option<PersonId> = on!(tx, first(joined_owners())).optional()?;
            if was_owner.is_some() && owner.is_none() {
                return Ok(PersonOutcome::LastOwner);
            }
            tx.commit().await?;
            Ok(PersonOutcome::Saved)
        })
        .await
    }
}

/// The event of a person's new role.
pub(crate) fn role_set(stamp: EventStamp, person: PersonId, before: Role, role: Role) -> Event {
    Event {
        from: Some(before.into()),
        to: Some(role.into()),
        ..stamp.event(EventAction::RoleSet, EventTarget::Person(person))
    }
}

fn removed_person(stamp: EventStamp, person: PersonId, before: Role) -> Event {
    Event {
        from: Some(before.into()),
        ..stamp.event(EventAction::PersonRemoved, EventTarget::Person(person))
    }
}

#[boxed]
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
