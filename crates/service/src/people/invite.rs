//! Makes links by which people join or choose a new password.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::account::person::Email;
use refract_domain::account::role::Role;
use refract_domain::event::EventAction;
use refract_domain::ids::PersonId;
use refract_persistence::{InviteOutcome, NewInvitation, NewPerson};
use uuid::Uuid;

use super::error::PersonError;
use crate::people::People;
use crate::people::account_actor::AccountActor;
use crate::people::secrets::{SecretError, random_bytes};
use crate::people::token::Token;

/// How long a link is valid.
const LINK_DAYS: TimeDelta = TimeDelta::days(7);

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
            .refract
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
        let database = &self.refract.database;
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
