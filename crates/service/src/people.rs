//! People of the app: invited by link, signed in by password, and named with what they made.
//!
//! The database stores only hashes of the tokens of links and sessions. An account always keeps at
//! least one owner who has joined, once it has one.

pub(crate) mod account_actor;
mod accounts;
mod app_url;
mod change;
mod check_standing;
mod drafts;
mod error;
mod invite;
mod join;
mod names;
mod one_time_codes;
mod own_account;
pub mod password;
mod password_hash;
mod pending_sign_in;
mod permit_queue;
mod provider_check;
pub(crate) mod random_text;
mod secret_try;
pub(crate) mod secrets;
mod session;
mod sign_in;
mod sign_in_client;
mod sign_in_error;
mod sign_in_limits;
mod sign_in_link;
mod sign_in_ways;
mod sign_on;
mod sign_on_failure;
mod sign_on_permit;
pub mod token;

pub use refract_persistence::{OpenInvitation, OwnSession, Person};
pub use refract_sign_on::{
    AdmissionRules, Flow, ProviderAnswer, ProviderSecret, RoleRules, SignOn, SignOnError,
    SignOnSettingError, SignOnSettings,
};

pub use self::account_actor::{AccountActor, ResultActor};
pub use self::accounts::{Account, AccountError, Accounts, DEFAULT_ACCOUNT};
pub use self::app_url::{AppUrl, NotAnAppUrl};
pub use self::drafts::{
    DraftContent, DraftKind, DraftOutcome, DraftPlace, DraftRevision, Drafts, StoredDraft,
};
pub use self::error::PersonError;
pub use self::invite::Invitation;
pub use self::join::JoinError;
pub use self::names::ActorName;
pub use self::one_time_codes::{CodeError, CodesSetup, OneTimeCodes, RecoveryCode};
pub use self::own_account::PasswordChangeError;
pub use self::pending_sign_in::PendingSignIn;
pub use self::secrets::SecretError;
pub use self::session::{CodesDue, Session, SessionEnd, SessionState, SignedIn};
pub use self::sign_in::SignInOutcome;
pub use self::sign_in_client::SignInClient;
pub use self::sign_in_error::SignInError;
pub use self::sign_in_ways::SignInWays;
pub use self::sign_on::{ProviderGrant, SignOnStart};
pub use self::sign_on_failure::SignOnFailure;

use crate::Refract;

/// The use cases of people, from [`Refract::people`](crate::Refract::people).
#[derive(Clone, Copy)]
pub struct People<'a> {
    pub(crate) refract: &'a Refract,
}

impl Refract {
    /// People of the app, their invitations, passwords and sessions.
    pub fn people(&self) -> People<'_> {
        People { refract: self }
    }
}
