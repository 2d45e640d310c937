//! People of the app: invited by link, signed in by password, and named with what they made.
//!
//! The database stores only hashes of the tokens of links and sessions. An account always keeps at
//! least one owner who has joined, once it has one.

pub(crate) mod accounts;
mod app_url;
mod change;
mod links;
mod one_time_codes;
mod own_account;
pub mod password;
mod password_hash;
mod permit_queue;
mod provider_check;
mod secret_try;
mod session;
mod sign_in;
mod sign_in_client;
mod sign_in_error;
mod sign_on;
mod sign_on_permit;
pub mod token;

pub use refract_persistence::{OpenInvitation, OwnSession, Person};
pub use refract_sign_on::{
    AdmissionRules, Flow, ProviderAnswer, ProviderSecret, RoleRules, SignOn, SignOnError,
    SignOnSettingError, SignOnSettings,
};

pub use self::accounts::{Account, AccountActor, AccountError, Accounts, DEFAULT_ACCOUNT};
pub use self::app_url::{AppUrl, NotAnAppUrl};
pub use self::change::{ActorName, PersonError};
pub use self::links::{Invitation, JoinError};
pub use self::one_time_codes::{CodeError, CodesSetup, OneTimeCodes, RecoveryCode};
pub use self::own_account::PasswordChangeError;
pub use self::session::{CodesDue, Session, SessionEnd, SessionState, SignedIn};
pub use self::sign_in::{PendingSignIn, SignInOutcome};
pub use self::sign_in_client::{SignInClient, SignInWays};
pub use self::sign_in_error::{SignInError, SignOnFailure};
pub use self::sign_on::{ProviderGrant, SignOnStart};
pub use self::token::SecretError;

use crate::Identity;

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
