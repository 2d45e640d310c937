//! Signs people in by address and password.

use chrono::Utc;
use refract_domain::account::person::Email;
use refract_domain::event::{Actor, EventRequest};
use refract_persistence::PasswordRow;

use super::password_hash::HashPlace;
use super::pending_sign_in::{PendingSignIn, new_pending_sign_in, pending_since};
use super::secret_try::SecretTry;
use super::session::{Session, alive, new_session};
use super::sign_in_client::{SignInClient, known_since};
use super::sign_in_error::SignInError;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::password::TypedPassword;

/// What follows the right address and password.
pub enum SignInOutcome {
    /// The person is signed in.
    SignedIn(Session),
    /// The person has one-time codes: they are signed in by [`People::finish_sign_in`].
    NeedsCode(PendingSignIn),
}

impl People<'_> {
    /// Signs in the person with this address and password, unless they have one-time codes. From
    /// then on the browser is known by the session's second token.
    ///
    /// Wrong tries are counted by address and network; those from a browser that is known for the
    /// person are counted separately. If the queue for hashing passwords is full, the request is
    /// refused at once, and does not count as a try.
    ///
    /// # Errors
    /// When passwords are switched off, address and password do not belong together, there were ten wrong tries in 15 minutes,
    /// many addresses were tried from the network, too many people sign in at this moment, or the
    /// database fails.
    pub async fn sign_in(
        self,
        client: &SignInClient,
        email: &str,
        password: TypedPassword,
        request: Option<EventRequest>,
    ) -> Result<SignInOutcome, SignInError> {
        if !self.has_passwords() {
            return Err(SignInError::PasswordsOff);
        }
        let database = &self.refract.database;
        // no account can have an invalid address, so refusing it at once reveals nothing
        let email = Email::parse(email).map_err(|_| SignInError::Wrong)?;
        let standing = client.standing(database, &email, Utc::now()).await?;
        let place = HashPlace::take(standing.applicant).await?;
        // the moment at which the permit was granted
        let now = Utc::now();
        let attempt = SecretTry {
            email: &email,
            counter: standing.counter,
            now,
            request: request.clone(),
            note: None,
        };
        let right = attempt.check_password(database, place, password).await?;
        let PasswordRow {
            account, person, ..
        } = right.row;
        let (outcome, is_begun) = if self.has_codes(person).await? {
            let (pending, new) = new_pending_sign_in(now)?;
            let beginning = database.begin_pending_sign_in(right.row, new, pending_since(now));
            (SignInOutcome::NeedsCode(pending), beginning.await?)
        } else {
            let (session, new) = new_session(standing.browser_before)?;
            let stamp = event_stamp(account, Actor::Person(person), request);
            let beginning = database.begin_session(right.row, new, stamp);
            (SignInOutcome::SignedIn(session), beginning.await?)
        };
        if !is_begun {
            // the password was changed at this moment, or the person was removed
            let whom = Some((account, person));
            return Err(attempt.refuse(database, right.tried, whom).await);
        }
        database.delete_sign_in_try(right.tried.id).await?;
        database
            .delete_expired_sessions(alive(now), known_since(now), now)
            .await?;
        Ok(outcome)
    }
}
