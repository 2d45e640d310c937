//! Sign-ins whose password was right and that still need a one-time code.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::event::{Actor, EventRequest};
use refract_persistence::{FinishedSignIn, NewPendingSignIn, PendingSignInRow, SignInCounter};

use super::one_time_codes::{CodeError, CodeTry, TypedCode};
use super::secret_try::SecretTry;
use super::secrets::{SecretError, random_bytes};
use super::session::{Session, alive, new_session};
use super::sign_in_client::{SignInClient, known_since};
use super::sign_in_error::SignInError;
use super::token::Token;
use crate::events::event_stamp;
use crate::people::People;

/// How long a sign-in waits for its code.
const LASTS: TimeDelta = TimeDelta::minutes(5);
/// Codes that may be tried for one sign-in.
const MOST_CODES: i32 = 5;
/// The note of the event of a sign-in that ended by wrong codes.
const NOTE: &str = "5 wrong one-time codes";

/// A sign-in that still needs a code. The token opens nothing but that; the database stores its
/// hash.
pub struct PendingSignIn {
    /// The token, which comes back with the code.
    pub token: Token,
}

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
        let database = &self.refract.database;
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
        let database = &self.refract.database;
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
pub(super) fn new_pending_sign_in(
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
pub(super) fn pending_since(now: DateTime<Utc>) -> DateTime<Utc> {
    now - LASTS
}
