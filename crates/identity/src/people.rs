//! People of the app: invited by link, signed in by password, and named with what they made.
//!
//! The database stores only hashes of the tokens of links and sessions. An account always keeps at
//! least one owner who has joined, once it has one.
//! Links for people begin with the address of the app.

pub(crate) mod accounts;
mod change;
mod links;
mod one_time_codes;
mod own_account;
pub mod password;
mod permit_queue;
mod provider_check;
mod secret_try;
pub(crate) mod secrets;
mod session;
mod sign_in;
mod sign_in_client;
mod sign_in_error;
mod sign_on;

use std::fmt;

use http::Uri;

use crate::Identity;

pub use self::accounts::{Account, AccountActor, AccountError, Accounts, DEFAULT_ACCOUNT};
pub use self::change::{ActorName, PersonError};
pub use self::links::{Invitation, JoinError};
pub use self::one_time_codes::{CodeError, CodesSetup, OneTimeCodes, RecoveryCode};
pub use self::own_account::PasswordChangeError;
pub use self::password::TypedPassword;
pub(crate) use self::secrets::random_bytes;
pub use self::secrets::{SecretError, Token};
pub use self::session::{CodesDue, Session, SessionEnd, SessionState, SignedIn};
pub use self::sign_in::{PendingSignIn, SignInOutcome};
pub use self::sign_in_client::{SignInClient, SignInWays};
pub use self::sign_in_error::{SignInError, SignOnFailure};
pub use self::sign_on::{ProviderGrant, SignOnStart};
pub use refract_persistence::{OpenInvitation, OwnSession, Person};
pub use refract_sign_on::{
    AdmissionRules, Flow, ProviderAnswer, ProviderSecret, RoleRules, SignOn, SignOnError,
    SignOnSettingError, SignOnSettings,
};

/// The use cases of people, from [`Identity::people`](crate::Identity::people).
#[derive(Clone, Copy)]
pub struct People<'a> {
    pub(crate) identity: &'a Identity,
}

impl Identity {
    /// People of the app, their invitations, passwords and sessions.
    pub fn people(&self) -> People<'_> {
        People { identity: self }
    }
}

/// The address of the app for people: `http` or `https`, a host and a port, without a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppUrl(String);

/// Why a text is not the address of an app.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be http:// or https:// and a host, with nothing after them")]
pub struct NotAnAppUrl;

impl AppUrl {
    /// Parses an address. A slash at its end is dropped, and the scheme's own port, which browsers
    /// leave out of `Origin`; the host is compared in lower case.
    ///
    /// # Errors
    /// [`NotAnAppUrl`] for anything but a scheme, a host and an optional port.
    pub fn parse(text: &str) -> Result<Self, NotAnAppUrl> {
        let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
        let uri: Uri = text.parse().map_err(|_| NotAnAppUrl)?;
        let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let is_bare = !authority.is_empty() && !authority.contains('@') && !text.contains('#');
        let is_bare = is_bare && matches!(uri.path(), "" | "/") && uri.query().is_none();
        let scheme = uri.scheme_str().unwrap_or_default();
        if is_web && is_bare {
            let port = if scheme == "http" { ":80" } else { ":443" };
            let authority = authority.strip_suffix(port).unwrap_or(authority);
            Ok(Self(format!("{scheme}://{authority}")))
        } else {
            Err(NotAnAppUrl)
        }
    }

    /// The address without a slash at its end. It is also the origin.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the address is `https`, so that cookies may be bound to it.
    pub fn is_secure(&self) -> bool {
        self.0.starts_with("https://")
    }

    /// The address of a link that signs in at once.
    pub fn sign_in_link(&self, token: &str) -> String {
        format!("{}/sign-in/{token}", self.0)
    }

    /// The address of the page for accepting an invitation or choosing a new password.
    pub fn join_link(&self, token: &str) -> String {
        format!("{}/join/{token}", self.0)
    }
}

impl fmt::Display for AppUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_scheme_a_host_and_a_port() {
        for (sent, read) in [
            ("http://127.0.0.1:8081", "http://127.0.0.1:8081"),
            (
                "https://Refract.example.com/",
                "https://refract.example.com",
            ),
            ("http://[::1]:8081", "http://[::1]:8081"),
            ("http://[::1]:80/", "http://[::1]"),
            ("http://a:80", "http://a"),
            ("https://a:443", "https://a"),
            ("http://a:443", "http://a:443"),
            ("https://a:80", "https://a:80"),
            ("http://a:8080", "http://a:8080"),
        ] {
            assert_eq!(AppUrl::parse(sent).unwrap().as_str(), read);
        }
        for other in [
            "",
            "refract.example.com",
            "ftp://a",
            "https://a/b",
            "https://a?b",
            "https://a#b",
            "https://user@a",
            "https://",
            "http://a b",
        ] {
            assert_eq!(AppUrl::parse(other), Err(NotAnAppUrl), "{other}");
        }
    }

    #[test]
    fn only_https_is_secure() {
        assert!(AppUrl::parse("https://a").unwrap().is_secure());
        assert!(!AppUrl::parse("http://a").unwrap().is_secure());
    }
}
