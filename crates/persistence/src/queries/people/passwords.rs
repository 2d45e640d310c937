//! Passwords: the rows for checking one, and the sessions and tries that end when one is replaced.

use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel_async::RunQueryDsl;
use refract_domain::account::person::Email;
use refract_domain::event::{EventAction, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, PersonId};

use super::email_hash::EmailHash;
use crate::connections::{on, run, unless_rolled_back};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::people::person::NO_PASSWORD;
use crate::queries::people::sessions::{NewSession, insert_session};
use crate::schema::sql_types::Bind;
use crate::schema::{invitations, known_browsers, people, sessions, sign_in_tries};

/// The row for checking a person's password.
#[derive(Clone)]
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

/// Ends in a transaction what depends on a person's old password: their sessions, their sign-ins
/// that still need a code, the browsers that they are known by, and the sign-in tries for their
/// address.
macro_rules! end_with_password {
    ($c:ident, $person:ident, $email:expr) => {
        let of_person = sessions::person_id.eq(Bind($person));
        $crate::connections::run!($c, diesel::delete(sessions::table.filter(of_person)));
        let of_person = known_browsers::person_id.eq(Bind($person));
        $crate::connections::run!($c, diesel::delete(known_browsers::table.filter(of_person)));
        let of_person = $crate::schema::pending_sign_ins::person_id.eq(Bind($person));
        let pending = $crate::schema::pending_sign_ins::table.filter(of_person);
        $crate::connections::run!($c, diesel::delete(pending));
        let of_address = sign_in_tries::email_hash.eq($email.0.to_vec());
        $crate::connections::run!($c, diesel::delete(sign_in_tries::table.filter(of_address)));
    };
}

pub(crate) use end_with_password;

impl Database {
    /// Finds the password of the person with this address, if they have joined.
    pub async fn find_password(
        &self,
        email: &Email,
    ) -> Result<Option<PasswordRow>, PersistenceError> {
        let email = email.as_str().to_owned();
        self.read(async move |mut connection| {
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
            let found: Option<(AccountId, PersonId, String)> =
                on!(connection, get_result(query)).optional()?;
            Ok(found.map(|(account, person, hash)| PasswordRow {
                account,
                person,
                hash,
            }))
        })
        .await
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
        unless_rolled_back!(self, |c| {
            let unchanged = people::table
                .filter(people::id.eq(Bind(checked.person)))
                .filter(people::password.eq(checked.hash))
                .filter(people::removed_at.is_null());
            // locks the person's row: a new password ends the sessions that begin before it
            let locking = diesel::update(unchanged).set(people::email.eq(people::email));
            if locking.execute(c).await? == 0 {
                return Err(RollbackTransaction);
            }
            insert_session!(c, session, checked.person);
            let target = EventTarget::Person(checked.person);
            add_event!(c, stamp.event(EventAction::SignedIn, target));
            QueryResult::Ok(())
        })
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
        unless_rolled_back!(self, |c| {
            let person = checked.person;

            let unchanged = people::table
                .filter(people::id.eq(Bind(person)))
                .filter(people::password.eq(checked.hash))
                .filter(people::removed_at.is_null());
            let changing = diesel::update(unchanged).set(people::password.eq(Some(password)));
            if changing.execute(c).await? == 0 {
                return Err(RollbackTransaction);
            }
            let links = invitations::person_id.eq(Bind(person));
            run!(c, diesel::delete(invitations::table.filter(links)));
            end_with_password!(c, person, email);
            insert_session!(c, session, person);
            let target = EventTarget::Person(person);
            add_event!(c, stamp.event(EventAction::PasswordChanged, target));
            QueryResult::Ok(())
        })
    }
}
