//! Sessions: who is signed in. They are found by the hash of a cookie's token.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel_async::RunQueryDsl;
use refract_domain::ids::{AccountId, EventId, PersonId};
use refract_domain::person::Email;
use refract_domain::role::Role;
use refract_domain::token::TokenHash;

use crate::connections::{in_transaction, is_committed, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::people::role_named;
use crate::schema::sql_types::Bind;
use crate::schema::{invitations, people, sessions};

/// A session to be saved.
#[derive(Clone, Copy, Debug)]
pub struct NewSession {
    /// The hash of the cookie's token, which is all that is kept.
    pub hash: TokenHash,
    /// When the session begins.
    pub now: DateTime<Utc>,
}

/// A person whom a session signs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRow {
    /// The account that the person belongs to.
    pub account: AccountId,
    /// The person.
    pub person: PersonId,
    /// The person's address.
    pub email: Email,
    /// The name that the person chose; a session has none only when the row was changed by hand.
    pub name: Option<String>,
    /// What the person may do.
    pub role: Role,
    /// When the session was last used, to the hour.
    pub last_used_at: DateTime<Utc>,
    /// The first change of the person by somebody else that they are still to be told of.
    pub untold_event: Option<EventId>,
}

/// What is needed to check a person's password.
#[derive(Clone)]
pub struct PasswordRow {
    /// The person.
    pub person: PersonId,
    /// The hash of the password, argon2id in the PHC string format.
    pub hash: String,
}

#[derive(Insertable)]
#[diesel(table_name = sessions)]
pub(crate) struct SessionColumns {
    hash: Vec<u8>,
    #[diesel(serialize_as = Bind<PersonId>)]
    person_id: PersonId,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    created_at: DateTime<Utc>,
    #[diesel(serialize_as = Bind<DateTime<Utc>>)]
    last_used_at: DateTime<Utc>,
}

/// The columns of a session with its person.
type FoundSession = (
    AccountId,
    PersonId,
    String,
    Option<String>,
    String,
    DateTime<Utc>,
    Option<EventId>,
);

impl SessionColumns {
    pub(crate) fn new(session: NewSession, person: PersonId) -> Self {
        Self {
            hash: session.hash.0.to_vec(),
            person_id: person,
            created_at: session.now,
            last_used_at: session.now,
        }
    }
}

impl Database {
    /// Finds the password of the person who has this address and has joined.
    ///
    /// # Errors
    /// When the database fails.
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
                .select((people::id, people::password.assume_not_null()));
            let found: Option<(PersonId, String)> =
                on!(connection, get_result(query)).optional()?;
            Ok(found.map(|(person, hash)| PasswordRow { person, hash }))
        })
        .await
    }

    /// Begins a session of a person whose password was checked against this row; whether that is
    /// still their password and they were not removed meanwhile. One transaction.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn begin_session(
        &self,
        checked: PasswordRow,
        session: NewSession,
    ) -> Result<bool, PersistenceError> {
        self.write(async move |mut connection| {
            let ended = in_transaction!(connection, |c| {
                let unchanged = people::table
                    .filter(people::id.eq(Bind(checked.person)))
                    .filter(people::password.eq(checked.hash))
                    .filter(people::removed_at.is_null());
                // locks the person's row: a new password ends the sessions that begin before it
                let locking = diesel::update(unchanged).set(people::email.eq(people::email));
                if locking.execute(c).await? == 0 {
                    return Err(RollbackTransaction);
                }
                diesel::insert_into(sessions::table)
                    .values(SessionColumns::new(session, checked.person))
                    .execute(c)
                    .await?;
                QueryResult::Ok(())
            });
            Ok(is_committed(ended)?)
        })
        .await
    }

    /// Finds the person whom a session signs in, when it was used after this moment.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn find_session(
        &self,
        hash: TokenHash,
        used_after: DateTime<Utc>,
    ) -> Result<Option<SessionRow>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = sessions::table
                .inner_join(people::table.on(people::id.eq(sessions::person_id)))
                .filter(sessions::hash.eq(hash.0.to_vec()))
                .filter(sessions::last_used_at.gt(Bind(used_after)))
                .filter(people::removed_at.is_null())
                .select((
                    people::account_id,
                    people::id,
                    people::email,
                    people::name,
                    people::role,
                    sessions::last_used_at,
                    people::untold_event,
                ));
            let found: Option<FoundSession> = on!(connection, get_result(query)).optional()?;
            let row = found.map(
                |(account, person, email, name, role, last_used_at, untold)| {
                    Ok(SessionRow {
                        account,
                        person,
                        email: Email::saved(email),
                        name,
                        role: role_named(&role)?,
                        last_used_at,
                        untold_event: untold,
                    })
                },
            );
            row.transpose()
        })
        .await
    }

    /// Saves that a session is used now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn note_session_use(
        &self,
        hash: TokenHash,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let session = sessions::table.filter(sessions::hash.eq(hash.0.to_vec()));
            let update = diesel::update(session).set(sessions::last_used_at.eq(Bind(now)));
            on!(connection, execute(update))?;
            Ok(())
        })
        .await
    }

    /// Ends a session. Ending one that does not exist changes nothing.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn end_session(&self, hash: TokenHash) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let session = sessions::table.filter(sessions::hash.eq(hash.0.to_vec()));
            on!(connection, execute(diesel::delete(session)))?;
            Ok(())
        })
        .await
    }

    /// Deletes the sessions that were not used after the first moment, and the links that are not
    /// good after the second. Two statements.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn delete_expired_sessions(
        &self,
        used_after: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let unused = sessions::table.filter(sessions::last_used_at.le(Bind(used_after)));
            on!(connection, execute(diesel::delete(unused)))?;
            let expired = invitations::table.filter(invitations::expires_at.le(Bind(now)));
            on!(connection, execute(diesel::delete(expired)))?;
            Ok(())
        })
        .await
    }
}
