//! Signs people in by address and password, and by a one-time code where it is needed.

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::account::Email;
use refract_domain::event::{Actor, EventRequest};
use refract_persistence::{
    FinishedSignIn, NewPendingSignIn, PasswordRow, PendingSignInRow, SignInCounter,
};

use super::one_time_codes::{CodeError, CodeTry, TypedCode};
use super::secret_try::SecretTry;
use super::secrets::{HashPlace, SecretError, Token, random_bytes};
use super::session::{Session, alive, new_session};
use super::sign_in_client::{SignInClient, known_since};
use super::sign_in_error::SignInError;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::password::TypedPassword;

/// How long a sign-in waits for its code.
const LASTS: TimeDelta = TimeDelta::minutes(5);
/// Codes that may be tried for one sign-in.
const MOST_CODES: i32 = 5;
/// The note of the event of a sign-in that ended by wrong codes.
const NOTE: &str = "5 wrong one-time codes";

/// What follows the right address and password.
pub enum SignInOutcome {
    /// The person is signed in.
    SignedIn(Session),
    /// The person has one-time codes: they are signed in by [`People::finish_sign_in`].
    NeedsCode(PendingSignIn),
}

#[boxed]
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
        let database = &self.identity.database;
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

/// A sign-in that still needs a code. The token opens nothing but that; the database stores its
/// hash.
pub struct PendingSignIn {
    /// The token, which comes back with the code.
    pub token: Token,
}

#[boxed]
impl People<'_> {
    /// Signs in the person of a pending sign-in by a one-time code or a recovery code.
    ///
    /// Wrong codes are counted by person, ten in 15 minutes. After five codes the sign-in is over,
    /// and counts as a wrong try of the address.
    ///
    /// # Errors
    /// When the code is wrong or was used before, there were too many wrong ones, the sign-in is
    /// over, or the database fails.
    pub async fn finish_sign_in(
        self,
        client: &SignInClient,
        token: &Token,
        code: &str,
        request: Option<EventRequest>,
    ) -> Result<Session, CodeError> {
        let database = &self.identity.database;
        let typed = TypedCode::parse(code)?;
        let now = Utc::now();
        let (hash, begun_after) = (token.hash(), pending_since(now));
        let pending = database.find_pending_sign_in(hash, begun_after).await?;
        let pending = pending.ok_or(CodeError::Over)?;
        let standing = client.standing(database, &pending.email, now).await?;
        let whom = (pending.account, pending.person);
        let attempt = CodeTry::new(whom, &pending.email, &standing.counter, request.clone());
        let tried = attempt.begin(database).await?;
        let counting = database.count_code_of_pending_sign_in(hash, MOST_CODES);
        if !counting.await? {
            attempt.succeed(database, &tried).await?;
            return Err(CodeError::Over);
        }
        let checking = attempt.check(database, &tried, &typed, pending.secret);
        let refusal = match checking.await {
            Ok(proof) => {
                let finished = FinishedSignIn {
                    hash,
                    begun_after,
                    person: pending.person,
                    proof,
                };
                let (session, new) = new_session(standing.browser_before)?;
                let actor = Actor::Person(pending.person);
                let stamp = event_stamp(pending.account, actor, request.clone());
                if database.finish_sign_in(finished, new, stamp).await? {
                    attempt.succeed(database, &tried).await?;
                    let (alive, known) = (alive(now), known_since(now));
                    database.delete_expired_sessions(alive, known, now).await?;
                    return Ok(session);
                }
                // the code was used at this moment or before
                attempt.refuse(database, &tried).await
            }
            Err(refusal) => refusal,
        };
        if database.end_pending_sign_in(hash, MOST_CODES).await? {
            self.count_as_wrong(&pending, standing.counter, request)
                .await?;
            return Err(CodeError::Over);
        }
        Err(refusal)
    }

    /// Counts a sign-in that ended by wrong codes as a wrong try of the address.
    async fn count_as_wrong(
        self,
        pending: &PendingSignInRow,
        counter: SignInCounter,
        request: Option<EventRequest>,
    ) -> Result<(), CodeError> {
        let database = &self.identity.database;
        let attempt = SecretTry {
            email: &pending.email,
            counter,
            now: Utc::now(),
            request,
            note: Some(NOTE),
        };
        let refusal = match attempt.begin(database).await {
            Ok(tried) => {
                let whom = Some((pending.account, pending.person));
                attempt.refuse(database, tried, whom).await
            }
            Err(refusal) => refusal,
        };
        match refusal {
            // a blocked try needs no further one
            SignInError::Wrong
            | SignInError::PasswordsOff
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. } => Ok(()),
            SignInError::Secret(error) => Err(error.into()),
            SignInError::Persistence(error) => Err(error.into()),
        }
    }
}

/// A sign-in that waits for its code from now on.
fn new_pending_sign_in(
    now: DateTime<Utc>,
) -> Result<(PendingSignIn, NewPendingSignIn), SecretError> {
    let token = Token::from_random(random_bytes()?);
    let new = NewPendingSignIn {
        hash: token.hash(),
        created_at: now,
    };
    Ok((PendingSignIn { token }, new))
}

/// A sign-in is pending at `now` if it began after this moment.
fn pending_since(now: DateTime<Utc>) -> DateTime<Utc> {
    now - LASTS
}
