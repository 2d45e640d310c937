//! Sessions: how a signed-in person is known from one request to the next.

use chrono::{TimeDelta, Utc};
use refract_domain::ids::{AccountId, EventId, PersonId};
use refract_domain::person::Email;
use refract_domain::role::Role;
use refract_domain::token::Token;
use refract_persistence::{Database, NewSession, PersistenceError};

use crate::secrets::{SecretFailed, random_bytes};

/// How long a session lasts after its last use.
pub(super) const LASTS: TimeDelta = TimeDelta::days(30);
/// How old the saved moment of last use becomes before it is written again, so that most requests
/// write nothing.
const NOTED_EVERY: TimeDelta = TimeDelta::hours(1);

/// A session that has begun. The token is the only copy: the database keeps a hash.
pub struct Session {
    /// The token for the cookie.
    pub token: Token,
}

/// A person who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The account that the person belongs to.
    pub account: AccountId,
    /// The person.
    pub person: PersonId,
    /// The person's address.
    pub email: Email,
    /// The name that the person chose.
    pub name: String,
    /// What the person may do.
    pub role: Role,
    /// The first change of the person by somebody else that they are still to be told of.
    pub untold_event: Option<EventId>,
}

/// The person whom a cookie's token signs in; `None` when the session ended or was never there. One
/// query, and a write about once an hour.
///
/// # Errors
/// When the database fails.
pub async fn session(
    database: &Database,
    token: &Token,
) -> Result<Option<SignedIn>, PersistenceError> {
    let now = Utc::now();
    let Some(found) = database.find_session(token.hash(), now - LASTS).await? else {
        return Ok(None);
    };
    if now - found.last_used_at >= NOTED_EVERY {
        database.note_session_use(token.hash(), now).await?;
    }
    Ok(Some(SignedIn {
        account: found.account,
        person: found.person,
        name: found.name.unwrap_or_else(|| found.email.to_string()),
        email: found.email,
        role: found.role,
        untold_event: found.untold_event,
    }))
}

/// Ends a session. Ending one that ended before changes nothing.
///
/// # Errors
/// When the database fails.
pub async fn sign_out(database: &Database, token: &Token) -> Result<(), PersistenceError> {
    database.end_session(token.hash()).await
}

/// A session that is to begin now.
pub(super) fn new_session() -> Result<(Session, NewSession), SecretFailed> {
    let token = Token::from_random(random_bytes()?);
    let new = NewSession {
        hash: token.hash(),
        now: Utc::now(),
    };
    Ok((Session { token }, new))
}
