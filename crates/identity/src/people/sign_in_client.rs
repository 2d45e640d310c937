//! Where a sign-in comes from, a network and the cookies of a browser; and the ways to sign in that an
//! installation offers.

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::account::{Email, TokenHash};
use refract_persistence::{Database, KnownBrowserRow, PersistenceError, SignInCounter};
use refract_sign_on::{SignOn, SignOnSettingError, SignOnSettings};
use rustls::ClientConfig;

use super::permit_queue::Applicant;
use crate::people::secrets::Token;

/// How long a browser is known after a sign-in.
const KNOWN: TimeDelta = TimeDelta::days(365);

/// Where a sign-in comes from.
#[derive(Clone, Default)]
pub struct SignInClient {
    network: String,
    browsers: Vec<Token>,
}

/// How the tries of a client are counted and queued for one address.
pub(super) struct ClientStanding {
    pub(super) applicant: Applicant,
    pub(super) counter: SignInCounter,
    /// The hash of the cookie that the browser's new one replaces.
    pub(super) browser_before: Option<TokenHash>,
}

impl SignInClient {
    /// A client, by the name of its network and the browser cookies that it sent. It sends several
    /// when an attacker planted one; any of them may be forged.
    pub fn new(network: String, browsers: Vec<Token>) -> Self {
        Self { network, browsers }
    }

    /// The hash of the cookie that the browser's new one replaces.
    pub(super) fn browser_before(&self) -> Option<TokenHash> {
        self.browsers.first().map(Token::hash)
    }

    /// The network, as an applicant for a permit.
    pub(super) fn applicant(&self) -> Applicant {
        Applicant::Network(self.network.clone())
    }

    /// How the client counts for this address: as the known browser of its person, or as a stranger
    /// from its network. Makes a query only if a cookie was sent.
    pub(super) async fn standing(
        &self,
        database: &Database,
        email: &Email,
        now: DateTime<Utc>,
    ) -> Result<ClientStanding, PersistenceError> {
        let known = self.known(database, Some(email), now).await?;
        Ok(self.standing_if(known))
    }

    /// How the client counts before it is known for whom: as a browser that anybody is known by, or
    /// as a stranger from its network.
    pub(super) async fn standing_of_anybody(
        &self,
        database: &Database,
        now: DateTime<Utc>,
    ) -> Result<ClientStanding, PersistenceError> {
        let known = self.known(database, None, now).await?;
        Ok(self.standing_if(known))
    }

    fn standing_if(&self, known: Option<KnownBrowserRow>) -> ClientStanding {
        match known {
            Some(KnownBrowserRow { person, hash }) => ClientStanding {
                applicant: Applicant::Person(person),
                counter: SignInCounter::Browser(hash),
                browser_before: Some(hash),
            },
            None => ClientStanding {
                applicant: self.applicant(),
                counter: SignInCounter::Network(self.network.clone()),
                browser_before: self.browser_before(),
            },
        }
    }

    async fn known(
        &self,
        database: &Database,
        email: Option<&Email>,
        now: DateTime<Utc>,
    ) -> Result<Option<KnownBrowserRow>, PersistenceError> {
        if self.browsers.is_empty() {
            return Ok(None);
        }
        let cookies: Vec<_> = self.browsers.iter().map(Token::hash).collect();
        database
            .find_known_browser(&cookies, email, known_since(now))
            .await
    }
}

/// A browser is known if its last sign-in was after this moment.
pub(super) fn known_since(now: DateTime<Utc>) -> DateTime<Utc> {
    now - KNOWN
}

/// How people may sign in. Links that an operator makes work in every case.
#[derive(Clone)]
pub struct SignInWays {
    /// The sign-in provider; `None` where there is none.
    pub(crate) provider: Option<SignOn>,
    /// Whether passwords sign in.
    pub(crate) passwords: bool,
}

impl SignInWays {
    /// By passwords, unless they are switched off, and by a provider, if there is one. The provider
    /// is not asked yet: a node starts without it. `tls` verifies its certificate, and is called
    /// only for a provider.
    ///
    /// # Errors
    /// A setting of the provider that cannot be used.
    pub fn new(
        provider: Option<SignOnSettings>,
        passwords: bool,
        tls: impl FnOnce() -> Option<ClientConfig>,
    ) -> Result<Self, SignOnSettingError> {
        let provider = provider
            .map(|settings| SignOn::new(settings, tls().ok_or(SignOnSettingError::Client)?));
        Ok(Self {
            provider: provider.transpose()?,
            passwords,
        })
    }
}

/// Passwords only.
impl Default for SignInWays {
    fn default() -> Self {
        Self {
            provider: None,
            passwords: true,
        }
    }
}
