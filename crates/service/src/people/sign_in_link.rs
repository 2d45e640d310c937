//! Links that sign in at once, which the demo prints for its owner.

use chrono::{TimeDelta, Utc};
use refract_domain::event::{Actor, EventAction, EventRequest};
use refract_domain::ids::PersonId;
use refract_persistence::{NewInvitation, PersistenceError};

use super::session::{Session, new_session};
use super::sign_in_client::SignInClient;
use super::sign_in_error::SignInError;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::account_actor::AccountActor;
use crate::people::secrets::random_bytes;
use crate::people::token::Token;

/// How long a link is valid.
const LASTS: TimeDelta = TimeDelta::days(1);

impl People<'_> {
    /// Makes a single-use link that signs in a person of the caller's account, valid for a day. It
    /// replaces any other link of the person. `None` when there is no such person.
    ///
    /// # Errors
    /// When the system gives no random numbers, or the database fails.
    pub async fn sign_in_link(
        self,
        actor: &AccountActor,
        person: PersonId,
    ) -> Result<Option<Token>, SignInError> {
        let random = random_bytes()?;
        let token = Token::from_random(random);
        let created_at = Utc::now();
        let link = NewInvitation {
            hash: token.sign_in_hash(),
            created_at,
            expires_at: created_at + LASTS,
        };
        let action = EventAction::SignInLinkMade;
        let database = &self.refract.database;
        let is_made = database
            .renew_link(person, link, action, actor.event_stamp())
            .await?;
        Ok(is_made.then_some(token))
    }

    /// Whether a link signs in. Checking does not use it up.
    pub async fn is_sign_in_link(self, token: &Token) -> Result<bool, PersistenceError> {
        let database = &self.refract.database;
        let found = database.find_invitation(token.sign_in_hash(), Utc::now());
        Ok(found.await?.is_some_and(|link| link.name.is_some()))
    }

    /// Signs in with a link, which is then used up; `None` when the link is not valid, or its
    /// person has not joined.
    ///
    /// # Errors
    /// When the system gives no random numbers, or the database fails.
    pub async fn sign_in_by_link(
        self,
        client: &SignInClient,
        token: &Token,
        request: Option<EventRequest>,
    ) -> Result<Option<Session>, SignInError> {
        let database = &self.refract.database;
        let hash = token.sign_in_hash();
        let Some(link) = database.find_invitation(hash, Utc::now()).await? else {
            return Ok(None);
        };
        let (session, new) = new_session(client.browser_before())?;
        let stamp = event_stamp(link.account, Actor::Person(link.person), request);
        let stamp = stamp.noted("by a link that signs in");
        let begun = database.begin_session_by_link(hash, new, stamp).await?;
        Ok(begun.then_some(session))
    }
}
