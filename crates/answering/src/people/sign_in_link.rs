//! Links that sign in at once, which the demo prints for its owner.

use chrono::{TimeDelta, Utc};
use refract_domain::event::EventAction;
use refract_domain::ids::PersonId;
use refract_domain::token::Token;
use refract_persistence::{Database, NewInvitation, PersistenceError};

use super::session::{Session, new_session};
use super::sign_in::SignInRefusal;
use crate::caller::Caller;
use crate::secrets::random_bytes;

/// How long a link is good.
const LASTS: TimeDelta = TimeDelta::days(1);

/// Makes a link that signs a person of the caller's account in, once and within a day. It replaces any other
/// link of the person. `None` when there is no such person.
///
/// # Errors
/// When the system gives no random numbers, or the database fails.
pub async fn sign_in_link(
    database: &Database,
    caller: &Caller,
    person: PersonId,
) -> Result<Option<Token>, SignInRefusal> {
    let random = random_bytes()?;
    let token = Token::from_random(random);
    let created_at = Utc::now();
    let link = NewInvitation {
        hash: token.sign_in_hash(),
        created_at,
        expires_at: created_at + LASTS,
    };
    let action = EventAction::SignInLinkMade;
    let is_made = database
        .renew_link(person, link, action, caller.event_stamp())
        .await?;
    Ok(is_made.then_some(token))
}

/// Signs in by a link, which is then used up; `None` when it is not good, or its person has not
/// joined.
///
/// # Errors
/// When the system gives no random numbers, or the database fails.
pub async fn sign_in_by_link(
    database: &Database,
    token: &Token,
) -> Result<Option<Session>, SignInRefusal> {
    let (session, new) = new_session()?;
    let begun: Result<bool, PersistenceError> = database
        .begin_session_by_link(token.sign_in_hash(), new)
        .await;
    Ok(begun?.then_some(session))
}
