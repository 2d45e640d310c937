//! One-time codes (RFC 6238) as a second factor for people who sign in by password, with recovery
//! codes for those who lost their device: what a person sees of them, how they begin to set them up,
//! what owners and operators decide about the codes of others, and one try of a code, counted like a
//! password.

mod code;
mod switch;

use chrono::{DateTime, Utc};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, OneTimeSecret, TokenHash};
use refract_domain::event::EventRequest;
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{
    CodeProof, Database, OneTimeCodesRow, PersistenceError, SignInCounter, SignInTry,
};
use sha2::{Digest as _, Sha256};

pub(super) use self::code::TypedCode;
pub use self::code::{CodeError, RecoveryCode};
use self::code::{grouped, secret_text};
use crate::people::People;
use crate::people::accounts::AccountActor;
use crate::people::change::PersonError;
use crate::people::secret_try::SecretTry;
use crate::people::secrets::random_bytes;
use crate::people::session::SignedIn;

/// The name under which apps list the codes.
const ISSUER: &str = "Refract";
/// The note of a wrong code's event.
const NOTE: &str = "a wrong one-time code";

/// A person's one-time codes.
pub enum OneTimeCodes {
    /// The person has none.
    Off,
    /// The person sets them up; sign-in needs none yet.
    SettingUp(CodesSetup),
    /// Sign-in needs a code.
    On {
        /// Since when.
        since: DateTime<Utc>,
        /// The number of unused recovery codes.
        recovery_codes: u64,
    },
}

/// What an authenticator app needs. It has no `Debug`, so that no log shows the secret by accident.
pub struct CodesSetup {
    /// The secret as text, in groups of four.
    pub secret: String,
    /// The address that apps read from a picture or open by themselves.
    pub link: String,
}

impl CodesSetup {
    fn new(secret: OneTimeSecret, email: &Email) -> Self {
        let text = secret_text(secret);
        let name = utf8_percent_encode(email.as_str(), NON_ALPHANUMERIC);
        Self {
            link: format!("otpauth://totp/{ISSUER}:{name}?secret={text}&issuer={ISSUER}"),
            secret: grouped(&text, " "),
        }
    }
}

#[boxed]
impl People<'_> {
    /// The one-time codes of a signed-in person.
    pub async fn one_time_codes(self, person: &SignedIn) -> Result<OneTimeCodes, PersistenceError> {
        let database = &self.identity.database;
        let found = database.find_one_time_codes(person.person).await?;
        Ok(match found {
            None => OneTimeCodes::Off,
            Some(OneTimeCodesRow {
                on_since: Some(since),
                recovery_codes,
                ..
            }) => OneTimeCodes::On {
                since,
                recovery_codes: recovery_codes.unsigned_abs(),
            },
            Some(OneTimeCodesRow {
                on_since: None,
                secret,
                ..
            }) => OneTimeCodes::SettingUp(CodesSetup::new(secret, &person.email)),
        })
    }

    /// Whether a person's sign-in needs a code.
    pub async fn has_codes(self, person: PersonId) -> Result<bool, PersistenceError> {
        let found = self.identity.database.find_one_time_codes(person).await?;
        Ok(found.is_some_and(|codes| codes.on_since.is_some()))
    }

    /// Begins to set up codes with a new secret, in place of a set-up that was not finished.
    ///
    /// # Errors
    /// [`CodeError::Meanwhile`] when the person has codes already; also when the system gives no
    /// random numbers, or the database fails.
    pub async fn begin_codes_setup(self, person: &SignedIn) -> Result<(), CodeError> {
        let secret = OneTimeSecret::new(random_bytes()?);
        let database = &self.identity.database;
        let beginning = database.begin_codes_setup(person.person, secret, Utc::now());
        if beginning.await? {
            Ok(())
        } else {
            Err(CodeError::Meanwhile)
        }
    }

    /// Removes the codes of a person of the caller's account, who then signs in by password alone.
    ///
    /// # Errors
    /// When there is no such person, or the database fails.
    pub async fn remove_codes(
        self,
        actor: &AccountActor,
        person: PersonId,
    ) -> Result<(), PersonError> {
        let database = &self.identity.database;
        let removing = database.remove_codes(person, actor.event_stamp());
        if removing.await? {
            Ok(())
        } else {
            Err(PersonError::NotFound)
        }
    }

    /// Whether the people of an account who sign in by password need one-time codes.
    pub async fn are_codes_required(self, account: AccountId) -> Result<bool, PersistenceError> {
        self.identity.database.are_codes_required(account).await
    }

    /// Sets whether the people of the caller's account who sign in by password need one-time codes,
    /// from their next request on.
    pub async fn set_codes_required(
        self,
        actor: &AccountActor,
        are_required: bool,
    ) -> Result<(), PersistenceError> {
        let database = &self.identity.database;
        let setting = database.set_codes_required(are_required, actor.event_stamp());
        setting.await
    }
}

/// A try of a code. Wrong ones are counted by person: ten in 15 minutes block the next, from any
/// network, since each guess is as good as any other. Those from a browser that is known for the
/// person, or from a session, are counted separately, so that strangers who know the password do not
/// lock the person out.
pub(super) struct CodeTry<'a> {
    account: AccountId,
    person: PersonId,
    attempt: SecretTry<'a>,
}

impl<'a> CodeTry<'a> {
    /// A try of a code of this person now. `counter` is that of the client's passwords.
    pub(super) fn new(
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
    pub(super) async fn begin(&self, database: &Database) -> Result<SignInTry, CodeError> {
        let beginning = self.attempt.begin(database);
        beginning.await.map_err(CodeError::of_code)
    }

    /// What proves that the code is right. A wrong one has an event.
    ///
    /// # Errors
    /// When the code is wrong, or the database fails.
    pub(super) async fn check(
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
    pub(super) async fn refuse(&self, database: &Database, tried: &SignInTry) -> CodeError {
        let whom = Some((self.account, self.person));
        let refusing = self.attempt.refuse(database, tried.clone(), whom);
        CodeError::of_code(refusing.await)
    }

    /// Deletes the try, which was no guess.
    pub(super) async fn succeed(
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
    fn an_app_gets_secret_person_and_issuer() {
        let secret = OneTimeSecret::new(*b"12345678901234567890");
        let email = Email::parse("ada+a&b:c@example.com").unwrap();
        let setup = CodesSetup::new(secret, &email);
        assert_eq!(setup.secret, "GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ");
        assert_eq!(
            setup.link,
            "otpauth://totp/Refract:ada%2Ba%26b%3Ac%40example%2Ecom\
             ?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Refract"
        );
    }

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
