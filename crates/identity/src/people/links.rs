//! Links: by which people join an account, choose a new password, or sign in at once.

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, PersonName, Role};
use refract_domain::event::{Actor, EventAction, EventRequest};
use refract_domain::ids::PersonId;
use refract_domain::problem::ValidationError;
use refract_persistence::{
    InviteOutcome, NewInvitation, NewPerson, OpenInvitation, PersistenceError,
};
use uuid::Uuid;

use super::change::PersonError;
use super::secrets::{HashPlace, choose_password};
use super::session::{Session, new_session};
use super::sign_in_client::SignInClient;
use super::sign_in_error::SignInError;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::accounts::AccountActor;
use crate::people::password::TypedPassword;
use crate::people::secrets::{SecretError, Token, random_bytes};

/// How long a link is valid.
const LINK_DAYS: TimeDelta = TimeDelta::days(7);
/// How long a link is valid.
const LASTS: TimeDelta = TimeDelta::days(1);

/// A single-use link for a person. The token is the only copy: the database stores its hash.
pub struct Invitation {
    /// The person whom the link is for.
    pub person: PersonId,
    /// The person's address.
    pub email: Email,
    /// What the person may do.
    pub role: Role,
    /// The token in the link.
    pub token: Token,
    /// Until when the link is valid.
    pub expires_at: DateTime<Utc>,
}

#[boxed]
impl People<'_> {
    /// Invites a person into the caller's account. A person who was invited before and has not
    /// joined yet gets this role, and the new link replaces the earlier one.
    ///
    /// # Errors
    /// When a person with this address has joined an account, or the database fails.
    pub async fn invite(
        self,
        actor: &AccountActor,
        email: &Email,
        role: Role,
    ) -> Result<Invitation, PersonError> {
        let new = NewPerson {
            id: PersonId::new(Uuid::now_v7()),
            account: actor.account(),
            email: email.clone(),
            role,
        };
        let (token, link) = new_link()?;
        let person = match self
            .identity
            .database
            .invite_person(&new, link, actor.event_stamp())
            .await?
        {
            InviteOutcome::Invited(person) => person,
            InviteOutcome::HasJoined => return Err(PersonError::HasJoined),
            InviteOutcome::OfOtherAccount => return Err(PersonError::AddressInUse),
        };
        Ok(Invitation {
            person,
            email: new.email,
            role,
            token,
            expires_at: link.expires_at,
        })
    }

    /// Makes a new link for a person of the caller's account, with which they choose a new
    /// password. Their present password works until the link is used.
    ///
    /// # Errors
    /// When there is no such person, or the database fails.
    pub async fn reset(
        self,
        actor: &AccountActor,
        person: PersonId,
    ) -> Result<Invitation, PersonError> {
        let database = &self.identity.database;
        let account = actor.account();
        let people = database.list_people(account).await?;
        let mut found = people.into_iter().filter(|row| row.id == person);
        let row = found.next().ok_or(PersonError::NotFound)?;
        let (token, link) = new_link()?;
        let action = EventAction::LinkRenewed;
        let renewing = database.renew_link(person, link, action, actor.event_stamp());
        if !renewing.await? {
            return Err(PersonError::NotFound);
        }
        Ok(Invitation {
            person,
            email: row.email,
            role: row.role,
            token,
            expires_at: link.expires_at,
        })
    }
}

fn new_link() -> Result<(Token, NewInvitation), SecretError> {
    let token = Token::from_random(random_bytes()?);
    let created_at = Utc::now();
    let link = NewInvitation {
        hash: token.hash(),
        created_at,
        expires_at: created_at + LINK_DAYS,
    };
    Ok((token, link))
}

/// Why a link was not accepted. The link stays as it was.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The link was used, has expired or was replaced, or the person was removed.
    #[error("this link no longer works: ask the person who sent it for a new one")]
    Void,
    /// The password breaks rules.
    #[error("the password cannot be chosen")]
    Password(Vec<ValidationError>),
    /// Passwords do not sign in here.
    #[error("passwords do not sign in here: join by signing in by the provider")]
    PasswordsOff,
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

#[boxed]
impl People<'_> {
    /// Finds a valid link, with its person.
    pub async fn find_invitation(
        self,
        token: &Token,
    ) -> Result<Option<OpenInvitation>, PersistenceError> {
        self.identity
            .database
            .find_invitation(token.hash(), Utc::now())
            .await
    }

    /// Accepts a link and uses it up: the person gets a name and a password, and is signed in here
    /// and nowhere else. Wrong sign-in tries for their address are deleted.
    ///
    /// # Errors
    /// When passwords are switched off, the link is not valid, the password is easily guessed or of a wrong length, too many
    /// people sign in at this moment, or the database fails.
    pub async fn accept(
        self,
        client: &SignInClient,
        token: &Token,
        name: &PersonName,
        password: TypedPassword,
        request: Option<EventRequest>,
    ) -> Result<Session, JoinError> {
        if !self.has_passwords() {
            return Err(JoinError::PasswordsOff);
        }
        let found = self.find_invitation(token).await?;
        let invitation = found.ok_or(JoinError::Void)?;
        let chosen = choose_password(password, &invitation.email, name.as_str()).await?;
        let password = chosen.map_err(JoinError::Password)?;
        let place = HashPlace::take(client.applicant()).await?;
        let hash = place.hash(password).await?;
        let (session, new) = new_session(client.browser_before())?;
        let stamp = event_stamp(
            invitation.account,
            Actor::Person(invitation.person),
            request,
        );
        let accepting =
            self.identity
                .database
                .accept_invitation(token.hash(), name, Some(&hash), new, stamp);
        if accepting.await? {
            Ok(session)
        } else {
            Err(JoinError::Void)
        }
    }

    /// Accepts a link for a person who signs in by links from then on, as a demo's owner does: no
    /// password fits, and one-time codes that the account requires do not bind them.
    ///
    /// # Errors
    /// When the link is not valid, the system gives no random numbers, or the database fails.
    pub async fn accept_by_link(self, token: &Token, name: &PersonName) -> Result<(), JoinError> {
        let invitation = self.find_invitation(token).await?.ok_or(JoinError::Void)?;
        let (_, new) = new_session(None)?;
        let actor = Actor::Person(invitation.person);
        let stamp = event_stamp(invitation.account, actor, None);
        let stamp = stamp.noted("by links that sign in");
        let database = &self.identity.database;
        let accepting = database.accept_invitation(token.hash(), name, None, new, stamp);
        if accepting.await? {
            Ok(())
        } else {
            Err(JoinError::Void)
        }
    }

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
        let database = &self.identity.database;
        let is_made = database
            .renew_link(person, link, action, actor.event_stamp())
            .await?;
        Ok(is_made.then_some(token))
    }

    /// Whether a link signs in. Checking does not use it up.
    pub async fn is_sign_in_link(self, token: &Token) -> Result<bool, PersistenceError> {
        let database = &self.identity.database;
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
        let database = &self.identity.database;
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
