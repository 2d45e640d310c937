//! One-time codes of people: the secret, the newest step whose code was used, and recovery codes.
//! Whether a typed code is right is decided elsewhere; here it is used up, once.

use chrono::{DateTime, Utc};
use diesel::dsl::count_star;
use diesel::prelude::*;
use diesel::result::Error::RollbackTransaction;
use diesel_async::RunQueryDsl;
use refract_domain::account::one_time_secret::OneTimeSecret;
use refract_domain::account::secret_hash::TokenHash;
use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::PersonId;

use super::passwords::PasswordRow;
use crate::connections::{for_update, on, run, unless_rolled_back};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::schema::sql_types::Bind;
use crate::schema::{one_time_codes, people, provider_sessions, recovery_codes};

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
macro_rules! use_code {
    ($c:ident, $person:expr, $proof:expr) => {{
        let written = match $proof {
            $crate::queries::people::one_time_codes::CodeProof::Step { secret, step } => {
                let unused = $crate::schema::one_time_codes::table
                    .filter($crate::schema::one_time_codes::person_id.eq(Bind($person)))
                    .filter($crate::schema::one_time_codes::on_since.is_not_null())
                    .filter($crate::schema::one_time_codes::secret.eq(secret.bytes().to_vec()))
                    .filter($crate::schema::one_time_codes::last_step.lt(step));
                let used = $crate::schema::one_time_codes::last_step.eq(step);
                $crate::connections::run!($c, diesel::update(unused).set(used))
            }
            $crate::queries::people::one_time_codes::CodeProof::Recovery(hash) => {
                let unused = $crate::schema::recovery_codes::table
                    .filter($crate::schema::recovery_codes::person_id.eq(Bind($person)))
                    .filter($crate::schema::recovery_codes::hash.eq(hash.bytes().to_vec()));
                $crate::connections::run!($c, diesel::delete(unused))
            }
        };
        written == 1
    }};
}

/// Deletes the codes of a person in a transaction that has locked the person, with an event of this
/// stamp if they were on. Returns whether they were.
macro_rules! delete_codes {
    ($c:ident, $person:expr, $stamp:expr) => {{
        let of_person = || $crate::schema::one_time_codes::table.find(Bind($person));
        let on = of_person().filter($crate::schema::one_time_codes::on_since.is_not_null());
        let were_on = $crate::connections::run!($c, diesel::delete(on)) == 1;
        $crate::connections::run!($c, diesel::delete(of_person()));
        if were_on {
            let target = EventTarget::Person($person);
            $crate::queries::events::add_event!(
                $c,
                $stamp.event(EventAction::CodesRemoved, target)
            );
        }
        were_on
    }};
}

/// Locks a person in a transaction, and rolls it back unless their password is still the checked
/// one and they were not removed.
macro_rules! lock_checked_person {
    ($c:ident, $checked:expr) => {
        let unchanged = $crate::schema::people::table
            .filter($crate::schema::people::id.eq(Bind($checked.person)))
            .filter($crate::schema::people::password.eq($checked.hash.clone()))
            .filter($crate::schema::people::removed_at.is_null());
        let locking = diesel::update(unchanged)
            .set($crate::schema::people::email.eq($crate::schema::people::email));
        if $crate::connections::run!($c, locking) == 0 {
            return Err(RollbackTransaction);
        }
    };
}

/// Replaces the recovery codes of a person in a transaction that has locked the person.
macro_rules! replace_recovery_codes {
    ($c:ident, $person:expr, $hashes:expr) => {
        let of_person = recovery_codes::table.filter(recovery_codes::person_id.eq(Bind($person)));
        run!($c, diesel::delete(of_person));
        let rows: Vec<_> = $hashes
            .iter()
            .map(|hash| {
                (
                    recovery_codes::person_id.eq(Bind($person)),
                    recovery_codes::hash.eq(hash.bytes().to_vec()),
                )
            })
            .collect();
        for row in rows {
            run!($c, diesel::insert_into(recovery_codes::table).values(row));
        }
    };
}

/// Records in a transaction that a second factor was given for a session of the sign-in provider.
/// Returns the number of such sessions.
macro_rules! confirm_session {
    ($c:ident, $session:expr, $stamp:expr) => {{
        let of_session =
            provider_sessions::table.filter(provider_sessions::hash.eq($session.bytes().to_vec()));
        let given = provider_sessions::second_factor_at.eq(Some($stamp.at));
        run!($c, diesel::update(of_session).set(given))
    }};
}

/// Adds an event in a transaction if the used code was a recovery code.
macro_rules! note_recovery_code {
    ($c:ident, $person:expr, $proof:expr, $stamp:expr) => {
        if let CodeProof::Recovery(_) = $proof {
            let left = $crate::schema::recovery_codes::table
                .filter($crate::schema::recovery_codes::person_id.eq(Bind($person)))
                .select(diesel::dsl::count_star());
            let left: i64 = left.get_result($c).await?;
            let left = EventDetail::worded(left.unsigned_abs(), "left");
            let target = EventTarget::Person($person);
            let used = $stamp
                .noted(left)
                .event(EventAction::RecoveryCodeUsed, target);
            $crate::queries::events::add_event!($c, used);
        }
    };
}

pub(crate) use {delete_codes, lock_checked_person, note_recovery_code, use_code};

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
            let found: Option<(Vec<u8>, Option<DateTime<Utc>>)> =
                on!(connection, get_result(query)).optional()?;
            let Some((secret, on_since)) = found else {
                return Ok(None);
            };
            let unused = recovery_codes::table
                .filter(recovery_codes::person_id.eq(Bind(person)))
                .select(count_star());
            Ok(Some(OneTimeCodesRow {
                secret: read_secret(secret)?,
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
        unless_rolled_back!(self, |c| {
            let one = people::table
                .filter(people::id.eq(Bind(person)))
                .filter(people::removed_at.is_null())
                .select(people::id);
            let there: Option<PersonId> = for_update(one).get_result(c).await.optional()?;
            if there.is_none() {
                return Err(RollbackTransaction);
            }
            let of_person = one_time_codes::table.find(Bind(person));
            let unfinished = of_person.filter(one_time_codes::on_since.is_null());
            run!(c, diesel::delete(unfinished));
            let row = (
                one_time_codes::person_id.eq(Bind(person)),
                one_time_codes::secret.eq(secret.bytes().to_vec()),
                one_time_codes::created_at.eq(Bind(now)),
                one_time_codes::last_step.eq(0_i64),
            );
            let insert = diesel::insert_into(one_time_codes::table).values(row);
            if run!(c, insert.on_conflict_do_nothing()) == 0 {
                return Err(RollbackTransaction);
            }
            QueryResult::Ok(())
        })
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
        unless_rolled_back!(self, |c| {
            let person = checked.person;
            lock_checked_person!(c, checked);
            let unfinished = one_time_codes::table
                .filter(one_time_codes::person_id.eq(Bind(person)))
                .filter(one_time_codes::on_since.is_null())
                .filter(one_time_codes::secret.eq(new.secret.bytes().to_vec()));
            let on = (
                one_time_codes::on_since.eq(Some(stamp.at)),
                one_time_codes::last_step.eq(new.step),
            );
            if run!(c, diesel::update(unfinished).set(on)) == 0 {
                return Err(RollbackTransaction);
            }
            replace_recovery_codes!(c, person, new.recovery);
            confirm_session!(c, session, stamp);
            let target = EventTarget::Person(person);
            add_event!(c, stamp.event(EventAction::CodesOn, target));
            QueryResult::Ok(())
        })
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
        unless_rolled_back!(self, |c| {
            let one = people::table
                .filter(people::id.eq(Bind(person)))
                .filter(people::removed_at.is_null())
                .select(people::id);
            let there: Option<PersonId> = for_update(one).get_result(c).await.optional()?;
            if there.is_none() || !use_code!(c, person, proof) {
                return Err(RollbackTransaction);
            }
            if confirm_session!(c, session, stamp) == 0 {
                return Err(RollbackTransaction);
            }
            note_recovery_code!(c, person, proof, stamp);
            QueryResult::Ok(())
        })
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
        unless_rolled_back!(self, |c| {
            let person = checked.person;
            lock_checked_person!(c, checked);
            if !use_code!(c, person, proof) {
                return Err(RollbackTransaction);
            }
            run!(c, diesel::delete(one_time_codes::table.find(Bind(person))));
            let target = EventTarget::Person(person);
            add_event!(
                c,
                stamp
                    .noted(proof.description())
                    .event(EventAction::CodesOff, target)
            );
            QueryResult::Ok(())
        })
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
        unless_rolled_back!(self, |c| {
            let person = checked.person;
            lock_checked_person!(c, checked);
            if !use_code!(c, person, proof) {
                return Err(RollbackTransaction);
            }
            replace_recovery_codes!(c, person, recovery);
            let target = EventTarget::Person(person);
            add_event!(
                c,
                stamp
                    .noted(proof.description())
                    .event(EventAction::RecoveryCodesMade, target)
            );
            QueryResult::Ok(())
        })
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

/// Reads the secret of a row.
pub(crate) fn read_secret(secret: Vec<u8>) -> Result<OneTimeSecret, PersistenceError> {
    let column = "one_time_codes.secret";
    let secret = secret.try_into();
    let secret = secret.map_err(|_| PersistenceError::Unreadable { column })?;
    Ok(OneTimeSecret::new(secret))
}
