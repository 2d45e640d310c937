//! What people change in their own account: their name, their password, and their sessions.

use chrono::Utc;
use refract_boxed_futures::boxed;
use refract_domain::account::{PersonName, TokenHash};
use refract_domain::event::EventRequest;
use refract_domain::problem::ValidationError;
use refract_persistence::{EmailHash, EndedSessions, OwnSession, PersistenceError, SignInCounter};

use super::permit_queue::Applicant;
use super::secret_try::SecretTry;
use super::secrets::{HashPlace, choose_password};
use super::session::{Session, SignedIn, alive, new_session};
use super::sign_in_client::SignInClient;
use super::sign_in_error::SignInError;
use crate::people::People;
use crate::people::password::TypedPassword;
use crate::people::secrets::SecretError;

/// Why a password was not changed. The present password stays valid.
#[derive(Debug, thiserror::Error)]
pub enum PasswordChangeError {
    /// The present password is wrong, or the try was blocked.
    #[error(transparent)]
    Present(SignInError),
    /// The new password breaks rules.
    #[error("the password cannot be chosen")]
    Weak(Vec<ValidationError>),
    /// A secret could not be made or checked.
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The database failed.
    #[error(transparent)]
    Persistence(#[from] PersistenceError),
}

impl From<SignInError> for PasswordChangeError {
    fn from(refusal: SignInError) -> Self {
        match refusal {
            SignInError::Secret(error) => Self::Secret(error),
            SignInError::Persistence(error) => Self::Persistence(error),
            SignInError::Wrong
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. }
            | SignInError::PasswordsOff => Self::Present(refusal),
        }
    }
}

#[boxed]
impl People<'_> {
    /// Changes the name of a signed-in person. Everything they made shows the new name.
    pub async fn rename(
        self,
        person: &SignedIn,
        name: &PersonName,
        request: Option<EventRequest>,
    ) -> Result<(), PersistenceError> {
        let stamp = person.event_stamp(request);
        self.identity
            .database
            .set_person_name(person.person, name, stamp)
            .await
    }

    /// Changes the password of a signed-in person, who gives the present one. They are signed in
    /// here by a new session, and nowhere else; links that were made for them become void. Wrong
    /// tries are counted by session, ten in 15 minutes.
    ///
    /// # Errors
    /// When passwords are switched off, the present password is wrong, there were too many wrong tries, the new password is
    /// easily guessed or of a wrong length, or the database fails.
    pub async fn change_password(
        self,
        client: &SignInClient,
        person: &SignedIn,
        present: TypedPassword,
        new: TypedPassword,
        request: Option<EventRequest>,
    ) -> Result<Session, PasswordChangeError> {
        if !self.has_passwords() {
            return Err(SignInError::PasswordsOff.into());
        }
        let database = &self.identity.database;
        let new = choose_password(new, &person.email, &person.name).await?;
        let new = new.map_err(PasswordChangeError::Weak)?;
        let place = || HashPlace::take(Applicant::Person(person.person));
        let attempt = SecretTry {
            email: &person.email,
            counter: SignInCounter::Browser(person.session),
            now: Utc::now(),
            request: request.clone(),
            note: Some("to change the password"),
        };
        let right = attempt
            .check_password(database, place().await?, present)
            .await?;
        let hash = place().await?.hash(new).await?;
        let (session, new_session) = new_session(client.browser_before())?;
        let email = EmailHash::of(&person.email);
        let stamp = person.event_stamp(request);
        let checked = right.row.clone();
        let changing = database.change_password(checked, email, &hash, new_session, stamp);
        if changing.await? {
            return Ok(session);
        }
        // the password was changed at this moment, or the person was removed
        let whom = Some((right.row.account, right.row.person));
        let refusal = attempt.refuse(database, right.tried, whom);
        Err(refusal.await.into())
    }

    /// The sessions of a signed-in person, the most recently used first.
    pub async fn own_sessions(
        self,
        person: &SignedIn,
    ) -> Result<Vec<OwnSession>, PersistenceError> {
        self.identity
            .database
            .list_own_sessions(person.person, alive(Utc::now()))
            .await
    }

    /// Ends a session of a signed-in person. Another person's session, or one that has already
    /// ended, is left unchanged.
    pub async fn end_own_session(
        self,
        person: &SignedIn,
        session: TokenHash,
        request: Option<EventRequest>,
    ) -> Result<(), PersistenceError> {
        self.end_sessions(person, EndedSessions::One(session), request)
            .await
    }

    /// Ends all sessions of a signed-in person except the present one.
    pub async fn end_other_sessions(
        self,
        person: &SignedIn,
        request: Option<EventRequest>,
    ) -> Result<(), PersistenceError> {
        let others = EndedSessions::AllBut(person.session);
        self.end_sessions(person, others, request).await
    }

    async fn end_sessions(
        self,
        person: &SignedIn,
        ended: EndedSessions,
        request: Option<EventRequest>,
    ) -> Result<(), PersistenceError> {
        let stamp = person.event_stamp(request);
        let alive = alive(stamp.at);
        self.identity
            .database
            .end_own_sessions(person.person, ended, alive, stamp)
            .await
    }
}
