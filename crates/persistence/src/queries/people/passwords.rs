//! Passwords: the rows for checking one, and the sessions and tries that end when one is replaced.

use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::Email;
use refract_domain::event::{EventAction, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, PersonId};

use crate::connections::{Transaction, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::commit_with;
use crate::queries::people::person::NO_PASSWORD;
use crate::queries::people::sessions::{NewSession, insert_session};
use crate::queries::people::sign_in_tries::EmailHash;
use crate::schema::sql_types::Bind;
use crate::schema::{
    invitations, known_browsers, pending_sign_ins, people, sessions, sign_in_tries,
};

/// The row for checking a person's password.
#[derive(Clone, Queryable)]
pub struct PasswordRow {
    /// The account of the person.
    pub account: AccountId,
    /// The person.
    pub person: PersonId,
    /// The hash of the password, argon2id in the PHC string format.
    pub hash: String,
}

impl PasswordRow {
    /// The row of a person who has no password.
    pub fn without_password(account: AccountId, person: PersonId) -> Self {
        Self {
            account,
            person,
            hash: NO_PASSWORD.to_owned(),
        }
    }
}

/// Locks a person in a transaction. Returns whether their password is still the checked one and they
/// were not removed.
pub(super) async fn lock_checked_person(
    tx: &mut Transaction,
    checked: &PasswordRow,
) -> QueryResult<bool> {
    let unchanged = people::table
        .filter(people::id.eq(Bind(checked.person)))
        .filter(people::password.eq(checked.hash.clone()))
        .filter(people::removed_at.is_null());
    let locking = diesel::update(unchanged).set(people::email.eq(people::email));
    Ok(on!(tx, execute(locking))? == 1)
}

/// Ends in a transaction what depends on a person's old password: their sessions, their sign-ins
/// that still need a code, the browsers that they are known by, and the sign-in tries for their
/// address.
pub(super) async fn end_with_password(
    tx: &mut Transaction,
    person: PersonId,
    email: EmailHash,
) -> QueryResult<()> {
    let ended = sessions::table.filter(sessions::person_id.eq(Bind(person)));
    on!(tx, execute(diesel::delete(ended)))?;
    let known = known_browsers::table.filter(known_browsers::person_id.eq(Bind(person)));
    on!(tx, execute(diesel::delete(known)))?;
    let pending = pending_sign_ins::table.filter(pending_sign_ins::person_id.eq(Bind(person)));
    on!(tx, execute(diesel::delete(pending)))?;
    let tries = sign_in_tries::table.filter(sign_in_tries::email_hash.eq(email.0.to_vec()));
    on!(tx, execute(diesel::delete(tries)))?;
    Ok(())
}

#[boxed]
impl Database {
    /// Finds the password of the person with this address, if they have joined.
    pub async fn find_password(
        &self,
        email: &Email,
    ) -> Result<Option<PasswordRow>, PersistenceError> {
        let email = email.as_str().to_owned();
        let query = people::table
            .filter(people::email.eq(email))
            .filter(people::removed_at.is_null())
            .filter(people::password.is_not_null())
            .filter(people::password.ne(NO_PASSWORD))
            .select((
                people::account_id,
                people::id,
                people::password.assume_not_null(),
            ));
        self.find(query).await
    }

    /// Begins a session of a person whose password was checked against this row. Returns whether it
    /// is still their password and they were not removed meanwhile. One transaction, with an event
    /// of the sign-in.
    pub async fn begin_session(
        &self,
        checked: PasswordRow,
        session: NewSession,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            // a new password ends the sessions that begin before it
            if !lock_checked_person(&mut tx, &checked).await? {
                return Ok(false);
            }
            insert_session(&mut tx, session, checked.person).await?;
            let target = EventTarget::Person(checked.person);
            commit_with(tx, stamp.event(EventAction::SignedIn, target)).await?;
            Ok(true)
        })
        .await
    }

    /// Replaces the password hash of a person whose password was checked against this row. All
    /// their sessions end, a new one begins, and any open link for them becomes void. Returns
    /// whether the checked password was still current and they were not removed meanwhile. One
    /// transaction, with an event of the change.
    pub async fn change_password(
        &self,
        checked: PasswordRow,
        email: EmailHash,
        password: &str,
        session: NewSession,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        let password = password.to_owned();
        self.begin(async move |mut tx| {
            let person = checked.person;
            let unchanged = people::table
                .filter(people::id.eq(Bind(person)))
                .filter(people::password.eq(checked.hash))
                .filter(people::removed_at.is_null());
            let update = diesel::update(unchanged).set(people::password.eq(Some(password)));
            if on!(tx, execute(update))? == 0 {
                return Ok(false);
            }
            let links = invitations::table.filter(invitations::person_id.eq(Bind(person)));
            on!(tx, execute(diesel::delete(links)))?;
            end_with_password(&mut tx, person, email).await?;
            insert_session(&mut tx, session, person).await?;
            let target = EventTarget::Person(person);
            commit_with(tx, stamp.event(EventAction::PasswordChanged, target)).await?;
            Ok(true)
        })
        .await
    }
}
