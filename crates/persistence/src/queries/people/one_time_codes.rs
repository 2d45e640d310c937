//! One-time codes of people: the secret, the newest step whose code was used, and recovery codes.
//! Whether a typed code is right is decided elsewhere; here it is used up, once.

use chrono::{DateTime, Utc};
use diesel::dsl::count_star;
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{OneTimeSecret, TokenHash};
use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::PersonId;

use super::passwords::{PasswordRow, lock_checked_person};
use super::person::lock_person;
use crate::connections::{Transaction, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::{add_event, commit_with};
use crate::schema::sql_types::Bind;
use crate::schema::stored::Stored;
use crate::schema::{one_time_codes, provider_sessions, recovery_codes};

/// A person's one-time codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OneTimeCodesRow {
    /// The secret.
    pub secret: OneTimeSecret,
    /// Since when sign-in needs a code; `None` while the person is still setting them up.
    pub on_since: Option<DateTime<Utc>>,
    /// The number of unused recovery codes.
    pub recovery_codes: i64,
}

/// A right code, which is used up together with the change that it allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeProof {
    /// The code of a step of 30 seconds since 1970. Codes of this step and of earlier ones cannot
    /// be used again.
    Step {
        /// The secret with which the code was compared.
        secret: OneTimeSecret,
        /// The step.
        step: i64,
    },
    /// A recovery code, by its hash.
    Recovery(TokenHash),
}

/// What is saved when codes are switched on.
#[derive(Clone, Debug)]
pub struct NewCodes {
    /// The secret that the person set up.
    pub secret: OneTimeSecret,
    /// The step of the first code, which cannot be used again.
    pub step: i64,
    /// The hashes of the recovery codes.
    pub recovery: Vec<TokenHash>,
}

/// Uses up a code in a transaction that has locked the person. Returns whether the code was unused.
pub(super) async fn use_code(
    tx: &mut Transaction,
    person: PersonId,
    proof: CodeProof,
) -> QueryResult<bool> {
    let written = match proof {
        CodeProof::Step { secret, step } => {
            let unused = one_time_codes::table
                .filter(one_time_codes::person_id.eq(Bind(person)))
                .filter(one_time_codes::on_since.is_not_null())
                .filter(one_time_codes::secret.eq(secret.bytes().to_vec()))
                .filter(one_time_codes::last_step.lt(step));
            let update = diesel::update(unused).set(one_time_codes::last_step.eq(step));
            on!(tx, execute(update))?
        }
        CodeProof::Recovery(hash) => {
            let unused = recovery_codes::table
                .filter(recovery_codes::person_id.eq(Bind(person)))
                .filter(recovery_codes::hash.eq(hash.bytes().to_vec()));
            on!(tx, execute(diesel::delete(unused)))?
        }
    };
    Ok(written == 1)
}

/// Deletes the codes of a person in a transaction that has locked the person, with an event of this
/// stamp if they were on. Returns whether they were.
pub(super) async fn delete_codes(
    tx: &mut Transaction,
    person: PersonId,
    stamp: EventStamp,
) -> QueryResult<bool> {
    let of_person = one_time_codes::table.find(Bind(person));
    let on = of_person.filter(one_time_codes::on_since.is_not_null());
    let were_on = on!(tx, execute(diesel::delete(on)))? == 1;
    on!(tx, execute(diesel::delete(of_person)))?;
    if were_on {
        let target = EventTarget::Person(person);
        add_event(tx, stamp.event(EventAction::CodesRemoved, target)).await?;
    }
    Ok(were_on)
}

/// Replaces the recovery codes of a person in a transaction that has locked the person.
async fn replace_recovery_codes(
    tx: &mut Transaction,
    person: PersonId,
    hashes: Vec<TokenHash>,
) -> QueryResult<()> {
    let of_person = recovery_codes::table.filter(recovery_codes::person_id.eq(Bind(person)));
    on!(tx, execute(diesel::delete(of_person)))?;
    for hash in hashes {
        let row = (
            recovery_codes::person_id.eq(Bind(person)),
            recovery_codes::hash.eq(hash.bytes().to_vec()),
        );
        let insert = diesel::insert_into(recovery_codes::table).values(row);
        on!(tx, execute(insert))?;
    }
    Ok(())
}

/// Records in a transaction that a second factor was given for a session of the sign-in provider.
/// Returns whether there is such a session.
async fn note_second_factor(
    tx: &mut Transaction,
    session: TokenHash,
    now: DateTime<Utc>,
) -> QueryResult<bool> {
    let of_session =
        provider_sessions::table.filter(provider_sessions::hash.eq(session.bytes().to_vec()));
    let given = provider_sessions::second_factor_at.eq(Some(now));
    let update = diesel::update(of_session).set(given);
    Ok(on!(tx, execute(update))? == 1)
}

/// Adds an event in a transaction if the used code was a recovery code.
pub(super) async fn note_recovery_code(
    tx: &mut Transaction,
    person: PersonId,
    proof: CodeProof,
    stamp: EventStamp,
) -> QueryResult<()> {
    let CodeProof::Recovery(_) = proof else {
        return Ok(());
    };
    let left = recovery_codes::table
        .filter(recovery_codes::person_id.eq(Bind(person)))
        .select(count_star());
    let left: i64 = on!(tx, get_result(left))?;
    let stamp = stamp.noted(EventDetail::worded(left.unsigned_abs(), "left"));
    let target = EventTarget::Person(person);
    add_event(tx, stamp.event(EventAction::RecoveryCodeUsed, target)).await
}

#[boxed]
impl Database {
    /// Finds a person's codes, also those that the person is still setting up. At most two queries.
    pub async fn find_one_time_codes(
        &self,
        person: PersonId,
    ) -> Result<Option<OneTimeCodesRow>, PersistenceError> {
        self.read(async move |mut connection| {
            let query = one_time_codes::table
                .find(Bind(person))
                .select((one_time_codes::secret, one_time_codes::on_since));
            let found: Option<(Stored<one_time_codes::secret>, _)> =
                on!(connection, get_result(query)).optional()?;
            let Some((secret, on_since)) = found else {
                return Ok(None);
            };
            let unused = recovery_codes::table
                .filter(recovery_codes::person_id.eq(Bind(person)))
                .select(count_star());
            Ok(Some(OneTimeCodesRow {
                secret: secret.try_into()?,
                on_since,
                recovery_codes: on!(connection, get_result(unused))?,
            }))
        })
        .await
    }

    /// Saves a new secret for a person who sets up codes, in place of one whose set-up was not
    /// finished. Returns whether it was saved: not if the person was removed or has codes. One
    /// transaction.
    pub async fn begin_codes_setup(
        &self,
        person: PersonId,
        secret: OneTimeSecret,
        now: DateTime<Utc>,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            if !lock_person(&mut tx, person).await? {
                return Ok(false);
            }
            let of_person = one_time_codes::table.find(Bind(person));
            let unfinished = of_person.filter(one_time_codes::on_since.is_null());
            on!(tx, execute(diesel::delete(unfinished)))?;
            let row = (
                one_time_codes::person_id.eq(Bind(person)),
                one_time_codes::secret.eq(secret.bytes().to_vec()),
                one_time_codes::created_at.eq(Bind(now)),
                one_time_codes::last_step.eq(0_i64),
            );
            let insert = diesel::insert_into(one_time_codes::table).values(row);
            if on!(tx, execute(insert.on_conflict_do_nothing()))? == 0 {
                return Ok(false);
            }
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Switches on the codes that a person has set up. Returns whether the secret is still the one
    /// that was set up, the checked password is still current and the person was not removed. One
    /// transaction, with an event.
    pub async fn switch_codes_on(
        &self,
        checked: PasswordRow,
        new: NewCodes,
        session: TokenHash,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let person = checked.person;
            if !lock_checked_person(&mut tx, &checked).await? {
                return Ok(false);
            }
            let unfinished = one_time_codes::table
                .filter(one_time_codes::person_id.eq(Bind(person)))
                .filter(one_time_codes::on_since.is_null())
                .filter(one_time_codes::secret.eq(new.secret.bytes().to_vec()));
            let on = (
                one_time_codes::on_since.eq(Some(stamp.at)),
                one_time_codes::last_step.eq(new.step),
            );
            if on!(tx, execute(diesel::update(unfinished).set(on)))? == 0 {
                return Ok(false);
            }
            replace_recovery_codes(&mut tx, person, new.recovery).await?;
            note_second_factor(&mut tx, session, stamp.at).await?;
            let target = EventTarget::Person(person);
            commit_with(tx, stamp.event(EventAction::CodesOn, target)).await?;
            Ok(true)
        })
        .await
    }

    /// Records that a right code was given for a session of the sign-in provider. Returns whether the
    /// code was unused, and the person was not removed and the session not ended. One transaction,
    /// with an event of a recovery code.
    pub async fn confirm_session(
        &self,
        session: TokenHash,
        proof: CodeProof,
        person: PersonId,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let is_confirmed = lock_person(&mut tx, person).await?
                && use_code(&mut tx, person, proof).await?
                && note_second_factor(&mut tx, session, stamp.at).await?;
            if !is_confirmed {
                return Ok(false);
            }
            note_recovery_code(&mut tx, person, proof, stamp).await?;
            tx.commit().await?;
            Ok(true)
        })
        .await
    }

    /// Switches off the codes of a person who gave a right code. Returns whether the code was
    /// unused, the checked password is still current and the person was not removed. One
    /// transaction, with an event.
    pub async fn switch_codes_off(
        &self,
        checked: PasswordRow,
        proof: CodeProof,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let person = checked.person;
            let is_proved = lock_checked_person(&mut tx, &checked).await?
                && use_code(&mut tx, person, proof).await?;
            if !is_proved {
                return Ok(false);
            }
            let codes = one_time_codes::table.find(Bind(person));
            on!(tx, execute(diesel::delete(codes)))?;
            let target = EventTarget::Person(person);
            let stamp = stamp.noted(proof.description());
            commit_with(tx, stamp.event(EventAction::CodesOff, target)).await?;
            Ok(true)
        })
        .await
    }

    /// Replaces the recovery codes of a person who gave a right code. Returns whether the code was
    /// unused, the checked password is still current and the person was not removed. One
    /// transaction, with an event.
    pub async fn renew_recovery_codes(
        &self,
        checked: PasswordRow,
        proof: CodeProof,
        recovery: Vec<TokenHash>,
        stamp: EventStamp,
    ) -> Result<bool, PersistenceError> {
        self.begin(async move |mut tx| {
            let person = checked.person;
            let is_proved = lock_checked_person(&mut tx, &checked).await?
                && use_code(&mut tx, person, proof).await?;
            if !is_proved {
                return Ok(false);
            }
            replace_recovery_codes(&mut tx, person, recovery).await?;
            let target = EventTarget::Person(person);
            let stamp = stamp.noted(proof.description());
            commit_with(tx, stamp.event(EventAction::RecoveryCodesMade, target)).await?;
            Ok(true)
        })
        .await
    }
}

impl CodeProof {
    /// The kind of the code, for the note of an event.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Step { .. } => "with a one-time code",
            Self::Recovery(_) => "with a recovery code",
        }
    }
}
