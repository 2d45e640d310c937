//! One try of a password, a one-time code or a provider's code, counted before the secret is checked, so that the tries
//! of all nodes are counted together.

use chrono::{DateTime, Utc};
use refract_domain::account::person::Email;
use refract_domain::event::{Actor, EventRequest};
use refract_domain::ids::{AccountId, PersonId, SignInTryId};
use refract_persistence::{
    CountedTry, Database, EmailHash, PasswordRow, SignInCounter, SignInTry, WrongTry,
};
use uuid::Uuid;

use super::password_hash::HashPlace;
use super::sign_in_error::SignInError;
use super::sign_in_limits::{TryLimit, WRONG_TRIES, limit, window};
use crate::events::event_stamp;
use crate::people::password::TypedPassword;

/// A try of a secret for an address.
pub(super) struct SecretTry<'a> {
    pub(super) email: &'a Email,
    pub(super) counter: SignInCounter,
    pub(super) now: DateTime<Utc>,
    /// The request, and what the secret is or is for, unless it is a password to sign in, as the
    /// event of a wrong try names them.
    pub(super) request: Option<EventRequest>,
    pub(super) note: Option<&'static str>,
}

/// A password that was right when it was checked.
pub(super) struct RightPassword {
    pub(super) row: PasswordRow,
    /// The try, which counts as a wrong one until it is deleted.
    pub(super) tried: SignInTry,
}

impl SecretTry<'_> {
    /// Saves the try, which counts as a wrong one until it is deleted.
    ///
    /// The earlier tries are read twice: first without writing anything, so that a blocked try
    /// costs the database next to nothing, then after this try was saved. A blocked try does not
    /// count and has no event.
    ///
    /// # Errors
    /// When the try is blocked, or the database fails.
    pub(super) async fn begin(&self, database: &Database) -> Result<SignInTry, SignInError> {
        let window = window(self.now);
        let before = database.list_sign_in_tries(self.counter.clone(), window);
        self.let_through(&before.await?)?;
        let new = self.new_try();
        let others = database.save_sign_in_try(new.clone(), window).await?;
        if let Err(refusal) = self.let_through(&others) {
            database.delete_sign_in_try(new.id).await?;
            return Err(refusal);
        }
        Ok(new)
    }

    /// Whether the password belongs to the person with this address. An unknown address costs as
    /// much time as a wrong password. A wrong try for a person's address has an event.
    ///
    /// # Errors
    /// When address and password do not belong together, the try is blocked, or the database fails.
    pub(super) async fn check_password(
        &self,
        database: &Database,
        place: HashPlace,
        password: TypedPassword,
    ) -> Result<RightPassword, SignInError> {
        let tried = self.begin(database).await?;
        let found = database.find_password(self.email).await?;
        let hash = found.as_ref().map(|found| found.hash.clone());
        let is_right = place.verify(password, hash).await?;
        match found {
            Some(row) if is_right => Ok(RightPassword { row, tried }),
            found => {
                let person = found.map(|row| (row.account, row.person));
                Err(self.refuse(database, tried, person).await)
            }
        }
    }

    /// Saves that the try was wrong, with an event if the address is a person's. The one who tried
    /// is unknown, so the actor of the event is the node.
    pub(super) async fn refuse(
        &self,
        database: &Database,
        tried: SignInTry,
        person: Option<(AccountId, PersonId)>,
    ) -> SignInError {
        let person = person.map(|(account, person)| {
            let stamp = event_stamp(account, Actor::Node, self.request.clone());
            let stamp = match self.note {
                None => stamp,
                Some(note) => stamp.noted(note),
            };
            (person, stamp)
        });
        let wrong = WrongTry {
            tried,
            refused_at: Utc::now(),
            window: window(self.now),
            stopping: WRONG_TRIES.into(),
        };
        match database.refuse_sign_in_try(wrong, person).await {
            Ok(()) => SignInError::Wrong,
            Err(error) => error.into(),
        }
    }

    /// The try as it is saved.
    pub(super) fn new_try(&self) -> SignInTry {
        SignInTry {
            id: SignInTryId::new(Uuid::now_v7()),
            email: EmailHash::of(self.email),
            counter: self.counter.clone(),
            tried_at: self.now,
        }
    }

    fn let_through(&self, others: &[CountedTry]) -> Result<(), SignInError> {
        match limit(&self.counter, EmailHash::of(self.email), others, self.now) {
            None => Ok(()),
            Some(TryLimit::Address { until }) => Err(SignInError::TooManyTries { until }),
            Some(TryLimit::Network { until }) => Err(SignInError::Slowed {
                seconds: (until - self.now).num_seconds().unsigned_abs().max(1),
            }),
        }
    }
}
