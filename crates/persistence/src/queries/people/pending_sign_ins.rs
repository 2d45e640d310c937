//! Sign-ins whose password was right and that still need a code. Nobody is signed in by them.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, OneTimeSecret, TokenHash};
use refract_domain::event::{EventAction, EventStamp, EventTarget};
use refract_domain::ids::{AccountId, PersonId};

use super::one_time_codes::{CodeProof, note_recovery_code, use_code};
use super::passwords::{PasswordRow, lock_checked_person};
use super::person::lock_person;
use super::sessions::{NewSession, insert_session};
use crate::connections::on;
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{one_time_codes, pending_sign_ins, people};

/// A sign-in to be saved that still needs a code.
#[derive(Clone, Copy, Debug)]
pub struct NewPendingSignIn {
    /// The hash of its token; the token itself is not stored.
    pub hash: TokenHash,
    /// When the password was right.
    pub created_at: DateTime<Utc>,
}

/// A sign-in that still needs a code.
#[derive(Clone, Debug, PartialEq, Eq, Queryable)]
pub struct PendingSignInRow {
    /// The account of the person.
    pub account: AccountId,
    /// The person.
    pub person: PersonId,
    /// The person's address.
    #[diesel(deserialize_as = Stored<people::email>)]
    pub email: Email,
    /// The secret of the person's codes.
    #[diesel(deserialize_as = Stored<one_time_codes::secret>)]
    pub secret: OneTimeSecret,
}

/// A pending sign-in whose code was right.
#[derive(Clone, Copy, Debug)]
pub struct FinishedSignIn {
    /// The hash of its token.
    pub hash: TokenHash,
    /// Older pending sign-ins have ended.
    pub begun_after: DateTime<Utc>,
    /// The person.
    pub person: PersonId,
    /// The code.
    pub proof: CodeProof,
}

#[boxed]
impl Database {
    /// Saves a pending sign-in of a person whose password was checked against this row. Returns
    /// whether it is still their password, they were not removed, and they have codes. Those that
    /// began up to `ended` are deleted. One transaction.
    pub async fn begin_pending_sign_in(
        &self,
        checked: PasswordRow,
        new: NewPendingSignIn,
        ended: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            if !lock_checked_person(&mut tx, &checked).await? {
                return Ok(false);
            }
            let over = pending_sign_ins::table.filter(pending_sign_ins::created_at.le(Bind(ended)));
            on!(tx, execute(diesel::delete(over)))?;
            let codes = one_time_codes::table
                .filter(one_time_codes::person_id.eq(Bind(checked.person)))
                .filter(one_time_codes::on_since.is_not_null())
                .select(one_time_codes::person_id);
            let codes: Option<PersonId> = on!(tx, first(codes)).optional()?;
            let Some(person) = codes else {
                return Ok(false);
            };
            let row = (
                pending_sign_ins::hash.eq(new.hash.bytes().to_vec()),
                pending_sign_ins::person_id.eq(Bind(person)),
                pending_sign_ins::created_at.eq(Bind(new.created_at)),
                pending_sign_ins::tries.eq(0),
            );
            let insert = diesel::insert_into(pending_sign_ins::table).values(row);
            on!(tx, execute(insert))?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Finds a pending sign-in that began after this moment.
    pub async fn find_pending_sign_in(
        &self,
        hash: TokenHash,
        begun_after: DateTime<Utc>,
    ) -> Result<Option<PendingSignInRow>, PersistenceError> {
        let query = pending_sign_ins::table
            .inner_join(people::table.on(people::id.eq(pending_sign_ins::person_id)))
            .inner_join(
                one_time_codes::table.on(one_time_codes::person_id.eq(pending_sign_ins::person_id)),
            )
            .filter(pending_sign_ins::hash.eq(hash.bytes().to_vec()))
            .filter(pending_sign_ins::created_at.gt(Bind(begun_after)))
            .filter(people::removed_at.is_null())
            .select((
                people::account_id,
                people::id,
                people::email,
                one_time_codes::secret,
            ));
        self.find(query).await
    }

    /// Counts a code that is about to be compared. Returns whether it may be: not if `most` codes
    /// were tried before. One statement, so that concurrent tries are counted together.
    pub async fn count_code_of_pending_sign_in(
        &self,
        hash: TokenHash,
        most: i32,
    ) -> Result<bool, PersistenceError> {
        let pending = pending_sign_ins::table
            .filter(pending_sign_ins::hash.eq(hash.bytes().to_vec()))
            .filter(pending_sign_ins::tries.lt(most));
        let counted = pending_sign_ins::tries.eq(pending_sign_ins::tries + 1);
        let update = diesel::update(pending).set(counted);
        Ok(self.execute(update).await? == 1)
    }

    /// Deletes a pending sign-in after so many codes. Returns whether it was there and had them.
    pub async fn end_pending_sign_in(
        &self,
        hash: TokenHash,
        tries: i32,
    ) -> Result<bool, PersistenceError> {
        let pending = pending_sign_ins::table
            .filter(pending_sign_ins::hash.eq(hash.bytes().to_vec()))
            .filter(pending_sign_ins::tries.ge(tries));
        Ok(self.execute(diesel::delete(pending)).await? == 1)
    }

    /// Ends a pending sign-in with a right code, and begins a session. Returns whether the sign-in
    /// was still pending and the code unused: of several concurrent uses, one succeeds. One
    /// transaction, with an event of the sign-in, and another one for a recovery code.
    pub async fn finish_sign_in(
        &self,
        finished: FinishedSignIn,
        session: NewSession,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let FinishedSignIn { person, proof, .. } = finished;
            // the person's row is locked first, as everywhere: a new password ends what is pending
            if !lock_person(&mut tx, person).await? {
                return Ok(false);
            }
            let pending = pending_sign_ins::table
                .filter(pending_sign_ins::hash.eq(finished.hash.bytes().to_vec()))
                .filter(pending_sign_ins::person_id.eq(Bind(person)))
                .filter(pending_sign_ins::created_at.gt(Bind(finished.begun_after)));
            let is_finished = on!(tx, execute(diesel::delete(pending)))? == 1
                && use_code(&mut tx, person, proof).await?;
            if !is_finished {
                return Ok(false);
            }
            insert_session(&mut tx, session, person).await?;
            let target = EventTarget::Person(person);
            let further = stamp.further();
            let stamp = stamp.noted(proof.description());
            add_event(&mut tx, stamp.event(EventAction::SignedIn, target)).await?;
            note_recovery_code(&mut tx, person, proof, further).await?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }
}
