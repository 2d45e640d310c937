//! Switches one-time codes on and off, makes new recovery codes, and confirms a session of the sign-in
//! provider. Each needs a code, and those before the last the password of a person who has one, so that
//! a stolen session does not suffice.

use chrono::Utc;
use refract_boxed_futures::boxed;
use refract_domain::event::EventRequest;
use refract_persistence::{
    CodeProof, NewCodes, OneTimeCodesRow, PasswordRow, SignInCounter, SignInTry,
};

use super::CodeTry;
use super::code::{CodeError, RecoveryCode, TypedCode};
use crate::people::People;
use crate::people::password::TypedPassword;
use crate::people::permit_queue::Applicant;
use crate::people::secret_try::SecretTry;
use crate::people::secrets::HashPlace;
use crate::people::session::SignedIn;

/// The note of the event of a wrong password.
const NOTE: &str = "to change the one-time codes";

/// A right password with a right code, which is still unused.
struct Proven<'a> {
    row: PasswordRow,
    proof: CodeProof,
    attempt: CodeTry<'a>,
    tried: SignInTry,
}

#[boxed]
impl People<'_> {
    /// Switches on the codes that a signed-in person has set up. Returns the recovery codes, which
    /// are shown once.
    ///
    /// # Errors
    /// When the password or the first code is wrong, there were too many wrong tries, the set-up
    /// was begun anew, or the database fails.
    pub async fn switch_codes_on(
        self,
        person: &SignedIn,
        password: TypedPassword,
        code: &str,
        request: Option<EventRequest>,
    ) -> Result<Vec<RecoveryCode>, CodeError> {
        let database = &self.identity.database;
        let typed = TypedCode::parse(code)?;
        let Some(OneTimeCodesRow {
            secret,
            on_since: None,
            ..
        }) = database.find_one_time_codes(person.person).await?
        else {
            return Err(CodeError::Meanwhile);
        };
        // the person sees the secret, so there is nothing to guess
        let Some(CodeProof::Step { step, .. }) = typed.proof(secret, Utc::now()) else {
            return Err(CodeError::Wrong);
        };
        let row = self
            .check_password(person, password, request.as_ref())
            .await?;
        let codes = RecoveryCode::make_all()?;
        let new = NewCodes {
            secret,
            step,
            recovery: codes.iter().map(RecoveryCode::hash).collect(),
        };
        let stamp = person.event_stamp(request);
        if database
            .switch_codes_on(row, new, person.session, stamp)
            .await?
        {
            Ok(codes)
        } else {
            Err(CodeError::Meanwhile)
        }
    }

    /// Confirms a session of the sign-in provider by a code, which the account requires. Wrong codes
    /// are counted by person from all browsers: a browser is known as soon as the provider signed in
    /// there.
    ///
    /// # Errors
    /// When the code is wrong or was used before, there were too many wrong ones, the person has no
    /// codes, the session has ended, or the database fails.
    pub async fn confirm_session(
        self,
        person: &SignedIn,
        code: &str,
        request: Option<EventRequest>,
    ) -> Result<(), CodeError> {
        let database = &self.identity.database;
        let typed = TypedCode::parse(code)?;
        let Some(OneTimeCodesRow {
            secret,
            on_since: Some(_),
            ..
        }) = database.find_one_time_codes(person.person).await?
        else {
            return Err(CodeError::Meanwhile);
        };
        let whom = (person.account, person.person);
        let counter = SignInCounter::Network(String::new());
        let attempt = CodeTry::new(whom, &person.email, &counter, request.clone());
        let tried = attempt.begin(database).await?;
        let proof = attempt.check(database, &tried, &typed, secret).await?;
        let stamp = person.event_stamp(request);
        let confirming = database.confirm_session(person.session, proof, person.person, stamp);
        if confirming.await? {
            attempt.succeed(database, &tried).await?;
            return Ok(());
        }
        // the code was used at this moment or before
        Err(attempt.refuse(database, &tried).await)
    }

    /// Switches off the codes of a signed-in person.
    ///
    /// # Errors
    /// When the password or the code is wrong, there were too many wrong tries, the person has no
    /// codes, or the database fails.
    pub async fn switch_codes_off(
        self,
        person: &SignedIn,
        password: TypedPassword,
        code: &str,
        request: Option<EventRequest>,
    ) -> Result<(), CodeError> {
        let database = &self.identity.database;
        let proven = self.prove(person, password, code, request.as_ref()).await?;
        let stamp = person.event_stamp(request);
        let row = proven.row.clone();
        let switching = database.switch_codes_off(row, proven.proof, stamp);
        let is_done = switching.await?;
        self.end(&proven, is_done).await
    }

    /// Makes new recovery codes for a signed-in person, in place of the earlier ones. They are shown
    /// once.
    ///
    /// # Errors
    /// When the password or the code is wrong, there were too many wrong tries, the person has no
    /// codes, or the database fails.
    pub async fn renew_recovery_codes(
        self,
        person: &SignedIn,
        password: TypedPassword,
        code: &str,
        request: Option<EventRequest>,
    ) -> Result<Vec<RecoveryCode>, CodeError> {
        let database = &self.identity.database;
        let proven = self.prove(person, password, code, request.as_ref()).await?;
        let codes = RecoveryCode::make_all()?;
        let hashes = codes.iter().map(RecoveryCode::hash).collect();
        let stamp = person.event_stamp(request);
        let row = proven.row.clone();
        let renewing = database.renew_recovery_codes(row, proven.proof, hashes, stamp);
        let is_done = renewing.await?;
        self.end(&proven, is_done).await?;
        Ok(codes)
    }

    /// Checks the password, then the code.
    async fn prove<'a>(
        self,
        person: &'a SignedIn,
        password: TypedPassword,
        code: &str,
        request: Option<&EventRequest>,
    ) -> Result<Proven<'a>, CodeError> {
        let database = &self.identity.database;
        let typed = TypedCode::parse(code)?;
        let Some(OneTimeCodesRow {
            secret,
            on_since: Some(_),
            ..
        }) = database.find_one_time_codes(person.person).await?
        else {
            return Err(CodeError::Meanwhile);
        };
        let row = self.check_password(person, password, request).await?;
        let whom = (person.account, person.person);
        let counter = SignInCounter::Browser(person.session);
        let attempt = CodeTry::new(whom, &person.email, &counter, request.cloned());
        let tried = attempt.begin(database).await?;
        let proof = attempt.check(database, &tried, &typed, secret).await?;
        Ok(Proven {
            row,
            proof,
            attempt,
            tried,
        })
    }

    /// Ends the try of a code after the change that it was for.
    async fn end(self, proven: &Proven<'_>, is_done: bool) -> Result<(), CodeError> {
        let database = &self.identity.database;
        if is_done {
            proven.attempt.succeed(database, &proven.tried).await?;
            return Ok(());
        }
        // the code was used at this moment or before
        Err(proven.attempt.refuse(database, &proven.tried).await)
    }

    /// The person's password if it is the typed one, or if none can be asked for.
    async fn check_password(
        self,
        person: &SignedIn,
        password: TypedPassword,
        request: Option<&EventRequest>,
    ) -> Result<PasswordRow, CodeError> {
        let database = &self.identity.database;
        if !person.has_password {
            // nobody who signs in by the provider only, or while passwords are off, can give one
            let found = database.find_password(&person.email).await?;
            let none = || PasswordRow::without_password(person.account, person.person);
            return Ok(found.unwrap_or_else(none));
        }
        let place = HashPlace::take(Applicant::Person(person.person)).await?;
        let attempt = SecretTry {
            email: &person.email,
            counter: SignInCounter::Browser(person.session),
            now: Utc::now(),
            request: request.cloned(),
            note: Some(NOTE),
        };
        let checking = attempt.check_password(database, place, password);
        let right = checking.await.map_err(CodeError::of_password)?;
        database.delete_sign_in_try(right.tried.id).await?;
        Ok(right.row)
    }
}
