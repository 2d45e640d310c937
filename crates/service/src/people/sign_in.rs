//! Signs people in by address and password.

use chrono::Utc;
use refract_domain::account::person::Email;
use refract_domain::event::{Actor, EventRequest};
use refract_persistence::PasswordRow;

use super::password_hash::HashPlace;
use super::password_try::PasswordTry;
use super::session::{Session, alive, new_session};
use super::sign_in_client::{SignInClient, known_since};
use super::sign_in_error::SignInError;
use crate::events::event_stamp::event_stamp;
use crate::people::People;
use crate::people::password::TypedPassword;

impl People<'_> {
    /// Signs in the person who has this address and password. The browser is known from then on, by the
    /// second token of the session.
    ///
    /// Wrong tries are counted by address and network, those of a browser that is known for the person by
    /// themselves. Whoever finds no place among those who wait for their password to be hashed is told so
    /// at once, and it counts as no try.
    ///
    /// # Errors
    /// When address and password do not belong together, there were ten wrong tries in 15 minutes, many
    /// addresses were tried from the network, too many people sign in at this moment, or the database
    /// fails.
    pub async fn sign_in(
        self,
        client: &SignInClient,
        email: &str,
        password: TypedPassword,
        request: Option<EventRequest>,
    ) -> Result<Session, SignInError> {
        let database = &self.refract.database;
        // nobody can have what is no address, and whoever typed it may learn that at no cost
        let email = Email::parse(email).map_err(|_| SignInError::Wrong)?;
        let standing = client.standing(database, &email, Utc::now()).await?;
        let place = HashPlace::take(standing.applicant).await?;
        // the moment at which the turn came
        let now = Utc::now();
        let attempt = PasswordTry {
            email: &email,
            counter: standing.counter,
            now,
            request: request.clone(),
            note: None,
        };
        let right = attempt.check(database, place, password).await?;
        let (session, new) = new_session(standing.browser_before)?;
        let PasswordRow {
            account, person, ..
        } = right.row;
        let stamp = event_stamp(account, Actor::Person(person), request);
        let beginning = database.begin_session(right.row.clone(), new, stamp);
        if !beginning.await? {
            // another password was chosen at this moment, or the person was removed
            return Err(attempt
                .refuse(database, right.tried, Some(&right.row))
                .await);
        }
        database.delete_sign_in_try(right.tried.id).await?;
        database
            .delete_expired_sessions(alive(now), known_since(now), now)
            .await?;
        Ok(session)
    }
}
