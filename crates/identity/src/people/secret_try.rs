//! One try of a password, a one-time code or a provider's code, counted before the secret is
//! checked, so that the tries of all nodes are counted together; and the rate limits on wrong
//! tries.
//!
//! What it takes to ask the sign-in provider about a code that a browser brings back: a permit of a
//! queue that is fair to networks, and few refused codes from the network.
//!
//! Anybody can begin a sign-on and come back with a code of their own invention. Only the provider
//! knows which codes are right, so it is asked about each, and its own rate limits count every one
//! as a request of this installation.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::account::Email;
use refract_domain::event::{Actor, EventRequest};
use refract_domain::ids::{AccountId, PersonId, SignInTryId};
use refract_persistence::{
    CountedTry, Database, EmailHash, PasswordRow, PersistenceError, SignInCounter, SignInTry,
    TriesWindow, WrongTry,
};
use refract_sign_on::SignOnError;
use tokio::time::timeout;
use uuid::Uuid;

use super::permit_queue::{PermitQueue, QueueLimits, QueuePermit};
use super::secrets::HashPlace;
use super::sign_in_client::SignInClient;
use super::sign_in_error::{SignInError, SignOnFailure};
use crate::events::event_stamp;
use crate::people::password::TypedPassword;

/// Wrong tries within [`COUNTED`] that block further tries, for one address from one network or one
/// known browser.
const WRONG_TRIES: u8 = 10;
/// How long a wrong try counts.
const COUNTED: TimeDelta = TimeDelta::minutes(15);
/// How far another node's clock may be ahead for its tries to count. Tries further ahead were made
/// before this clock was set back.
const CLOCKS_APART: TimeDelta = TimeDelta::minutes(1);
/// Other addresses with wrong tries from one network within [`COUNTED`] after which the network is
/// slowed: more than the people of one office mistype in a quarter of an hour.
const ADDRESSES: usize = 20;
/// How long a slowed network waits after each try.
const PACE: TimeDelta = TimeDelta::seconds(5);

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
    fn new_try(&self) -> SignInTry {
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

/// Why a try is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TryLimit {
    /// There were too many wrong tries for the address.
    Address { until: DateTime<Utc> },
    /// Too many addresses were tried from the network.
    Network { until: DateTime<Utc> },
}

/// The tries that count now.
fn window(now: DateTime<Utc>) -> TriesWindow {
    TriesWindow {
        since: now - COUNTED,
        until: now + CLOCKS_APART,
        deleted_from: now + COUNTED,
    }
}

/// Whether a try for an address is blocked, given the other tries of its counter, oldest first.
pub(super) fn limit(
    counter: &SignInCounter,
    email: EmailHash,
    others: &[CountedTry],
    now: DateTime<Utc>,
) -> Option<TryLimit> {
    let of_address = others.iter().filter(|other| other.email == email);
    let of_address: Vec<_> = of_address.map(|other| other.tried_at).collect();
    if let Some(until) = stopped_until(&of_address) {
        return Some(TryLimit::Address { until });
    }
    match counter {
        SignInCounter::Browser(_) => None,
        SignInCounter::Network(_) => slowed_until(email, others)
            .filter(|until| *until > now)
            .map(|until| TryLimit::Network { until }),
    }
}

/// Until when the tries for an address are blocked, given the moments of the others, oldest first;
/// `None` for a try that is allowed.
fn stopped_until(of_address: &[DateTime<Utc>]) -> Option<DateTime<Utc>> {
    let too_many = of_address.len().checked_sub(WRONG_TRIES.into())?;
    let last_to_expire = of_address.get(too_many)?;
    Some(*last_to_expire + COUNTED)
}

/// When a network that tried many addresses may try the next one; `None` for other networks.
fn slowed_until(email: EmailHash, others: &[CountedTry]) -> Option<DateTime<Utc>> {
    let addresses = others.iter().map(|other| other.email.0);
    let addresses: BTreeSet<_> = addresses.filter(|address| *address != email.0).collect();
    let last = others.last()?;
    (addresses.len() >= ADDRESSES).then(|| last.tried_at + PACE)
}

/// Limits on codes at the provider at a time, and on waiters. A waiter costs no more than its
/// connection.
const LIMITS: QueueLimits = QueueLimits {
    at_once: 16,
    of_network: 64,
    of_networks: 512,
    of_person: 4,
    of_people: 128,
};
/// The longest wait for a permit.
const LONGEST_WAIT: Duration = Duration::from_secs(5);
/// Failed sign-ins of a network or browser from which on each code is counted before the provider is
/// asked, and not only once it was refused. Then right codes cost a write too.
const SUSPECT: usize = 10;

/// The queue of this process.
static QUEUE: PermitQueue = PermitQueue::new(LIMITS);

/// A permit to ask the provider about a code, returned when it is dropped.
pub(super) struct SignOnPermit {
    counter: SignInCounter,
    /// The code as a try that counts; `None` as long as it counts only if it is refused.
    counted: Option<SignInTry>,
    _permit: QueuePermit,
}

impl SignOnPermit {
    /// Waits for a permit for a client.
    ///
    /// # Errors
    /// When the queue has no room or the wait is too long, too many codes from the network or the
    /// known browser were refused, or the database fails.
    pub(super) async fn take(
        database: &Database,
        client: &SignInClient,
    ) -> Result<Self, SignOnFailure> {
        let standing = client.standing_of_anybody(database, Utc::now()).await?;
        let waiting = timeout(LONGEST_WAIT, QUEUE.permit(standing.applicant)).await;
        let permit = waiting.map_err(|_| SignOnError::Busy)?;
        let permit = permit.map_err(|_| SignOnError::Busy)?;
        let counter = standing.counter;
        let before = database.list_sign_in_tries(counter.clone(), window(Utc::now()));
        let counted_before = if before.await?.len() < SUSPECT {
            None
        } else {
            let email = address(&counter);
            let beginning = code_try(&email, &counter).begin(database).await;
            Some(beginning.map_err(SignOnFailure::of_try)?)
        };
        Ok(Self {
            counter,
            counted: counted_before,
            _permit: permit,
        })
    }

    /// Returns the permit after the provider's answer, and counts a code that it refused as a wrong
    /// try.
    pub(super) async fn end<T>(
        self,
        database: &Database,
        answer: &Result<T, SignOnError>,
    ) -> Result<(), PersistenceError> {
        let is_refused = matches!(
            answer,
            Err(SignOnError::Refused { .. } | SignOnError::Untrusted(_))
        );
        if !is_refused {
            return match self.counted {
                Some(tried) => database.delete_sign_in_try(tried.id).await,
                None => Ok(()),
            };
        }
        let email = address(&self.counter);
        let attempt = code_try(&email, &self.counter);
        let tried = if let Some(tried) = self.counted {
            tried
        } else {
            let new = attempt.new_try();
            let saving = database.save_sign_in_try(new.clone(), window(attempt.now));
            saving.await?;
            new
        };
        match attempt.refuse(database, tried, None).await {
            SignInError::Persistence(error) => Err(error),
            SignInError::Wrong
            | SignInError::TooManyTries { .. }
            | SignInError::Slowed { .. }
            | SignInError::PasswordsOff
            | SignInError::Secret(_) => Ok(()),
        }
    }
}

/// What a code counts as in the place of an address. From a network each counts as another one, as
/// the addresses do of somebody who tries many; from a known browser all are one. Nobody can have
/// such an address.
fn address(counter: &SignInCounter) -> Email {
    Email::saved(match counter {
        SignInCounter::Network(_) => format!("a provider's code {}", Uuid::now_v7()),
        SignInCounter::Browser(_) => "a provider's code".to_owned(),
    })
}

fn code_try<'a>(email: &'a Email, counter: &SignInCounter) -> SecretTry<'a> {
    SecretTry {
        email,
        counter: counter.clone(),
        now: Utc::now(),
        request: None,
        note: None,
    }
}

#[cfg(test)]
mod tests;
