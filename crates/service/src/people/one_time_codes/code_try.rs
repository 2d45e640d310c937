//! One try of a code, counted like a password.

use chrono::Utc;
use refract_domain::account::one_time_secret::OneTimeSecret;
use refract_domain::account::person::Email;
use refract_domain::account::secret_hash::TokenHash;
use refract_domain::event::EventRequest;
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{CodeProof, Database, PersistenceError, SignInCounter, SignInTry};
use sha2::{Digest as _, Sha256};

use super::code::{CodeError, TypedCode};
use crate::people::secret_try::SecretTry;

/// The note of a wrong code's event.
const NOTE: &str = "a wrong one-time code";

/// A try of a code. Wrong ones are counted by person: ten in 15 minutes block the next, from any
/// network, since each guess is as good as any other. Those from a browser that is known for the
/// person, or from a session, are counted separately, so that strangers who know the password do not
/// lock the person out.
pub(in crate::people) struct CodeTry<'a> {
    account: AccountId,
    person: PersonId,
    attempt: SecretTry<'a>,
}

impl<'a> CodeTry<'a> {
    /// A try of a code of this person now. `counter` is that of the client's passwords.
    pub(in crate::people) fn new(
        (account, person): (AccountId, PersonId),
        email: &'a Email,
        counter: &SignInCounter,
        request: Option<EventRequest>,
    ) -> Self {
        let attempt = SecretTry {
            email,
            counter: counter_of_codes(person, counter),
            now: Utc::now(),
            request,
            note: Some(NOTE),
        };
        Self {
            account,
            person,
            attempt,
        }
    }

    /// Counts the try, which counts as a wrong one until [`CodeTry::succeed`].
    ///
    /// # Errors
    /// When there were too many wrong codes, or the database fails.
    pub(in crate::people) async fn begin(
        &self,
        database: &Database,
    ) -> Result<SignInTry, CodeError> {
        let beginning = self.attempt.begin(database);
        beginning.await.map_err(CodeError::of_code)
    }

    /// What proves that the code is right. A wrong one has an event.
    ///
    /// # Errors
    /// When the code is wrong, or the database fails.
    pub(in crate::people) async fn check(
        &self,
        database: &Database,
        tried: &SignInTry,
        typed: &TypedCode,
        secret: OneTimeSecret,
    ) -> Result<CodeProof, CodeError> {
        match typed.proof(secret, Utc::now()) {
            Some(proof) => Ok(proof),
            None => Err(self.refuse(database, tried).await),
        }
    }

    /// Saves that the code was wrong or used before, with an event.
    pub(in crate::people) async fn refuse(
        &self,
        database: &Database,
        tried: &SignInTry,
    ) -> CodeError {
        let whom = Some((self.account, self.person));
        let refusing = self.attempt.refuse(database, tried.clone(), whom);
        CodeError::of_code(refusing.await)
    }

    /// Deletes the try, which was no guess.
    pub(in crate::people) async fn succeed(
        &self,
        database: &Database,
        tried: &SignInTry,
    ) -> Result<(), PersistenceError> {
        database.delete_sign_in_try(tried.id).await
    }
}

/// The counter of a person's wrong codes, given that of the client's wrong passwords. Both are kept
/// by the hash of a cookie, so the counter of codes gets a hash that no cookie has.
fn counter_of_codes(person: PersonId, counter: &SignInCounter) -> SignInCounter {
    let hash = Sha256::new().chain_update("one-time codes ");
    let hash = hash.chain_update(person.uuid().as_bytes());
    let hash = match counter {
        SignInCounter::Network(_) => hash,
        SignInCounter::Browser(known) => hash.chain_update(known.bytes()),
    };
    SignInCounter::Browser(TokenHash::new(hash.finalize().into()))
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn all_networks_count_together_and_each_known_browser_by_itself() {
        let ada = PersonId::new(Uuid::from_u128(1));
        let eve = PersonId::new(Uuid::from_u128(2));
        let network = |name: &str| SignInCounter::Network(name.to_owned());
        let browser = |byte| SignInCounter::Browser(TokenHash::new([byte; 32]));
        let of_ada = counter_of_codes(ada, &network("203.0.113.0/24"));
        assert_eq!(of_ada, counter_of_codes(ada, &network("198.51.100.0/24")));
        for other in [
            counter_of_codes(eve, &network("203.0.113.0/24")),
            counter_of_codes(ada, &browser(1)),
            counter_of_codes(ada, &browser(2)),
            browser(1),
        ] {
            assert_ne!(of_ada, other);
        }
    }
}
