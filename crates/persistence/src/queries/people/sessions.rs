//! Sessions of signed-in people, found by the hash of a cookie's token, and as their person sees them;
//! and the browsers in which a person signed in before, known by the hash of a cookie that alone signs
//! nobody in.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, Role, TokenHash};
use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, EventId, PersonId};

use crate::connections::{Transaction, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::people::person::NO_PASSWORD;
use crate::queries::people::provider_sessions::ProviderCheck;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{
    accounts, invitations, known_browsers, one_time_codes, people, provider_sessions, sessions,
};

/// A session to be saved.
#[derive(Clone, Copy, Debug)]
pub struct NewSession {
    /// The hash of the cookie's token; the token itself is not stored.
    pub hash: TokenHash,
    /// The browser of the sign-in, which is known from now on.
    pub browser: NewBrowser,
    /// When the session begins.
    pub now: DateTime<Utc>,
}

/// The limits within which a session has not ended.
#[derive(Clone, Copy, Debug)]
pub struct SessionsAlive {
    /// The session was used after this moment.
    pub used_after: DateTime<Utc>,
    /// The session began after this moment.
    pub begun_after: DateTime<Utc>,
}

/// A person whom a session signs in.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "facts about a person, each independent of the others"
)]
pub struct SessionRow {
    /// The account that the person belongs to.
    pub account: AccountId,
    /// The person.
    pub person: PersonId,
    /// The person's address.
    #[diesel(deserialize_as = Stored<people::email>)]
    pub email: Email,
    /// The name that the person chose; `None` only when the row was changed manually.
    pub name: Option<String>,
    /// What the person may do.
    #[diesel(deserialize_as = Stored<people::role>)]
    pub role: Role,
    /// When the session was last used, to the hour.
    pub last_used_at: DateTime<Utc>,
    /// The first change by somebody else that is still to be announced to the person.
    pub first_unseen_event: Option<EventId>,
    /// When the sign-in provider was asked about the person; `None` for a session without one.
    pub provider_check: Option<ProviderCheck>,
    /// Whether the account requires one-time codes.
    pub requires_codes: bool,
    /// Whether the person has one-time codes.
    pub has_codes: bool,
    /// Whether the person has a password.
    pub has_password: bool,
    /// Whether the person signs in by links that an operator makes.
    pub is_by_link: bool,
}

/// Begins a session in a transaction that has checked the person.
pub(super) async fn insert_session(
    tx: &mut Transaction,
    session: NewSession,
    person: PersonId,
) -> QueryResult<()> {
    let insert = diesel::insert_into(sessions::table).values((
        sessions::hash.eq(session.hash.bytes().to_vec()),
        sessions::person_id.eq(Bind(person)),
        sessions::created_at.eq(Bind(session.now)),
        sessions::last_used_at.eq(Bind(session.now)),
    ));
    on!(tx, execute(insert))?;
    know_browser(tx, session.browser, person, session.now).await
}

#[boxed]
impl Database {
    /// Finds the person whom a session signs in, unless the session has ended.
    pub async fn find_session(
        &self,
        hash: TokenHash,
        alive: SessionsAlive,
    ) -> Result<Option<SessionRow>, PersistenceError> {
        let query = sessions::table
            .inner_join(people::table.on(people::id.eq(sessions::person_id)))
            .inner_join(accounts::table.on(accounts::id.eq(people::account_id)))
            .left_join(one_time_codes::table.on(one_time_codes::person_id.eq(people::id)))
            .left_join(provider_sessions::table.on(provider_sessions::hash.eq(sessions::hash)))
            .filter(sessions::hash.eq(hash.bytes().to_vec()))
            .filter(sessions::last_used_at.gt(Bind(alive.used_after)))
            .filter(sessions::created_at.gt(Bind(alive.begun_after)))
            .filter(people::removed_at.is_null());
        let check = (
            provider_sessions::checked_at,
            provider_sessions::next_check_at,
            provider_sessions::second_factor_at.is_not_null(),
        );
        let has_password = people::password
            .is_not_null()
            .and(people::password.ne(NO_PASSWORD).assume_not_null());
        let query = query.select((
            people::account_id,
            people::id,
            people::email,
            people::name,
            people::role,
            sessions::last_used_at,
            people::first_unseen_event,
            check.nullable(),
            accounts::codes_required_at.is_not_null(),
            one_time_codes::on_since.nullable().is_not_null(),
            has_password,
            people::by_link_since.is_not_null(),
        ));
        self.find(query).await
    }

    /// Records that a session is used at `now`.
    pub async fn note_session_use(
        &self,
        hash: TokenHash,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        let session = sessions::table.filter(sessions::hash.eq(hash.bytes().to_vec()));
        let update = diesel::update(session).set(sessions::last_used_at.eq(Bind(now)));
        self.execute(update).await?;
        Ok(())
    }

    /// Deletes ended sessions, expired links, and browsers in which nobody signed in after
    /// `signed_in_after`. Three statements.
    pub async fn delete_expired_sessions(
        &self,
        alive: SessionsAlive,
        signed_in_after: DateTime<Utc>,
        now: DateTime<Utc>,
    ) -> Result<(), PersistenceError> {
        self.write(async move |mut connection| {
            let has_ended = sessions::last_used_at
                .le(Bind(alive.used_after))
                .or(sessions::created_at.le(Bind(alive.begun_after)));
            let ended = sessions::table.filter(has_ended);
            on!(connection, execute(diesel::delete(ended)))?;
            let expired = invitations::table.filter(invitations::expires_at.le(Bind(now)));
            on!(connection, execute(diesel::delete(expired)))?;
            let signed_in_at = known_browsers::signed_in_at;
            let expired = known_browsers::table.filter(signed_in_at.le(Bind(signed_in_after)));
            on!(connection, execute(diesel::delete(expired)))?;
            Ok(())
        })
        .await
    }
}

/// A session of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct OwnSession {
    /// The hash of the session's token.
    #[diesel(deserialize_as = Stored<sessions::hash>)]
    pub hash: TokenHash,
    /// When the session began.
    pub began_at: DateTime<Utc>,
    /// When the session was last used, to the hour.
    pub last_used_at: DateTime<Utc>,
}

/// Which of a person's sessions are to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedSessions {
    /// This one.
    One(TokenHash),
    /// All but this one.
    AllBut(TokenHash),
}

#[boxed]
impl Database {
    /// The sessions of a person that have not ended, the most recently used first.
    pub async fn list_own_sessions(
        &self,
        person: PersonId,
        alive: SessionsAlive,
    ) -> Result<Vec<OwnSession>, PersistenceError> {
        let query = sessions::table
            .filter(sessions::person_id.eq(Bind(person)))
            .filter(sessions::last_used_at.gt(Bind(alive.used_after)))
            .filter(sessions::created_at.gt(Bind(alive.begun_after)))
            .order((sessions::last_used_at.desc(), sessions::created_at.desc()))
            .select((sessions::hash, sessions::created_at, sessions::last_used_at));
        self.load(query).await
    }

    /// Ends sessions of a person, with an event if there were any. A session that has ended
    /// already, or that belongs to another person, changes nothing. One transaction.
    pub async fn end_own_sessions(
        &self,
        person: PersonId,
        ended: EndedSessions,
        alive: SessionsAlive,
        stamp: EventStamp,
    ) -> Result<(), PersistenceError> {
        self.begin(async move |mut tx| {
            let of_person = sessions::table
                .filter(sessions::person_id.eq(Bind(person)))
                .filter(sessions::last_used_at.gt(Bind(alive.used_after)))
                .filter(sessions::created_at.gt(Bind(alive.begun_after)));
            let (number, stamp) = match ended {
                EndedSessions::One(hash) => {
                    let one = of_person.filter(sessions::hash.eq(hash.bytes().to_vec()));
                    (on!(tx, execute(diesel::delete(one)))?, stamp)
                }
                EndedSessions::AllBut(hash) => {
                    let others = of_person.filter(sessions::hash.ne(hash.bytes().to_vec()));
                    let number = on!(tx, execute(diesel::delete(others)))?;
                    let counted = u64::try_from(number).unwrap_or(u64::MAX);
                    (
                        number,
                        stamp.noted(EventDetail::counted(counted, "session")),
                    )
                }
            };
            if number > 0 {
                let target = EventTarget::Person(person);
                add_event(&mut tx, stamp.event(EventAction::SessionEnded, target)).await?;
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}

/// A browser in which a person signs in now.
#[derive(Clone, Copy, Debug)]
pub struct NewBrowser {
    /// The hash of the browser's new cookie.
    pub hash: TokenHash,
    /// The hash of the browser's earlier cookie, which is no longer valid.
    pub before: Option<TokenHash>,
}

/// A browser in which a person signed in before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct KnownBrowserRow {
    /// The person.
    pub person: PersonId,
    /// The hash of the browser's cookie.
    #[diesel(deserialize_as = Stored<known_browsers::hash>)]
    pub hash: TokenHash,
}

/// Records in a transaction that a person signs in with a browser. People who were known by its
/// earlier cookie are known by the new one: several people may share a browser.
pub(super) async fn know_browser(
    tx: &mut Transaction,
    browser: NewBrowser,
    person: PersonId,
    now: DateTime<Utc>,
) -> QueryResult<()> {
    let hash = browser.hash.bytes().to_vec();
    if let Some(before) = browser.before {
        // all rows of the cookie at once: two people who sign in at the same moment with one
        // browser wait for each other
        let of_cookie = known_browsers::hash.eq(before.bytes().to_vec());
        let of_cookie = known_browsers::table.filter(of_cookie);
        let update = diesel::update(of_cookie).set(known_browsers::hash.eq(hash.clone()));
        on!(tx, execute(update))?;
        let of_person = known_browsers::table
            .filter(known_browsers::hash.eq(hash.clone()))
            .filter(known_browsers::person_id.eq(Bind(person)));
        on!(tx, execute(diesel::delete(of_person)))?;
    }
    let insert = diesel::insert_into(known_browsers::table).values((
        known_browsers::hash.eq(hash),
        known_browsers::person_id.eq(Bind(person)),
        known_browsers::signed_in_at.eq(Bind(now)),
    ));
    on!(tx, execute(insert))?;
    Ok(())
}

#[boxed]
impl Database {
    /// Finds the browser that has one of these cookies, if the person with this address signed in
    /// with it after this moment; without an address, if anybody did.
    pub async fn find_known_browser(
        &self,
        cookies: &[TokenHash],
        email: Option<&Email>,
        signed_in_after: DateTime<Utc>,
    ) -> Result<Option<KnownBrowserRow>, PersistenceError> {
        let email = email.map(|email| email.as_str().to_owned());
        let cookies: Vec<_> = cookies
            .iter()
            .map(|cookie| cookie.bytes().to_vec())
            .collect();
        let known = known_browsers::table
            .inner_join(people::table.on(people::id.eq(known_browsers::person_id)))
            .filter(known_browsers::hash.eq_any(cookies))
            .filter(known_browsers::signed_in_at.gt(Bind(signed_in_after)))
            .filter(people::removed_at.is_null())
            .order(known_browsers::signed_in_at.desc())
            .select((known_browsers::person_id, known_browsers::hash))
            .limit(1);
        match email {
            None => self.find(known).await,
            Some(email) => self.find(known.filter(people::email.eq(email))).await,
        }
    }
}
