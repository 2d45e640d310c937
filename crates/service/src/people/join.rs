//! Accepts links: joins an account, or sets a new password.

use chrono::Utc;
use refract_domain::account::person::PersonName;
use refract_domain::event::{Actor, EventRequest};
use refract_domain::problem::ValidationError;
use refract_persistence::{OpenInvitation, PersistenceError};

use super::password_hash::{HashPlace, choose_password};
use super::session::{Session, new_session};
use super::sign_in_client::SignInClient;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::password::TypedPassword;
use crate::people::secrets::SecretError;
use crate::people::token::Token;

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

impl People<'_> {
    /// Finds a valid link, with its person.
    pub async fn find_invitation(
        self,
        token: &Token,
    ) -> Result<Option<OpenInvitation>, PersistenceError> {
        self.refract
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
            self.refract
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
        let database = &self.refract.database;
        let accepting = database.accept_invitation(token.hash(), name, None, new, stamp);
        if accepting.await? {
            Ok(())
        } else {
            Err(JoinError::Void)
        }
    }
}
