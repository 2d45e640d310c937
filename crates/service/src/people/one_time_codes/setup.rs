//! What a person sees of their one-time codes, how they begin to set them up, and what owners and
//! operators decide about the codes of others.

use chrono::{DateTime, Utc};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use refract_domain::account::one_time_secret::OneTimeSecret;
use refract_domain::account::person::Email;
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{OneTimeCodesRow, PersistenceError};

use super::code::{CodeError, grouped, secret_text};
use crate::people::People;
use crate::people::accounts::AccountActor;
use crate::people::change::PersonError;
use crate::people::session::SignedIn;
use crate::people::token::random_bytes;

/// The name under which apps list the codes.
const ISSUER: &str = "Refract";

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

impl People<'_> {
    /// The one-time codes of a signed-in person.
    pub async fn one_time_codes(self, person: &SignedIn) -> Result<OneTimeCodes, PersistenceError> {
        let database = &self.refract.database;
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
        let found = self.refract.database.find_one_time_codes(person).await?;
        Ok(found.is_some_and(|codes| codes.on_since.is_some()))
    }

    /// Begins to set up codes with a new secret, in place of a set-up that was not finished.
    ///
    /// # Errors
    /// [`CodeError::Meanwhile`] when the person has codes already; also when the system gives no
    /// random numbers, or the database fails.
    pub async fn begin_codes_setup(self, person: &SignedIn) -> Result<(), CodeError> {
        let secret = OneTimeSecret::new(random_bytes()?);
        let database = &self.refract.database;
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
        let database = &self.refract.database;
        let removing = database.remove_codes(person, actor.event_stamp());
        if removing.await? {
            Ok(())
        } else {
            Err(PersonError::NotFound)
        }
    }

    /// Whether the people of an account who sign in by password need one-time codes.
    pub async fn are_codes_required(self, account: AccountId) -> Result<bool, PersistenceError> {
        self.refract.database.are_codes_required(account).await
    }

    /// Sets whether the people of the caller's account who sign in by password need one-time codes,
    /// from their next request on.
    pub async fn set_codes_required(
        self,
        actor: &AccountActor,
        are_required: bool,
    ) -> Result<(), PersistenceError> {
        let database = &self.refract.database;
        let setting = database.set_codes_required(are_required, actor.event_stamp());
        setting.await
    }
}

#[cfg(test)]
mod tests {
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
}
