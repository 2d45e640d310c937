//! What it takes to ask the sign-in provider about a code that a browser brings back: a permit of a
//! queue that is fair to networks, and few refused codes from the network.
//!
//! Anybody can begin a sign-on and come back with a code of their own invention. Only the provider
//! knows which codes are right, so it is asked about each, and its own rate limits count every one
//! as a request of this installation.

use std::time::Duration;

use chrono::Utc;
use refract_domain::account::Email;
use refract_persistence::{Database, PersistenceError, SignInCounter, SignInTry};
use refract_sign_on::SignOnError;
use tokio::time::timeout;
use uuid::Uuid;

use super::permit_queue::{PermitQueue, QueueLimits, QueuePermit};
use super::secret_try::{SecretTry, window};
use super::sign_in_client::SignInClient;
use super::sign_in_error::{SignInError, SignOnFailure};

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
