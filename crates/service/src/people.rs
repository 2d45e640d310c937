//! People of the app: invited by link, signed in by password, and named beside what they made.
//!
//! Links and sessions are opened by tokens of which the database keeps hashes. An account keeps at
//! least one owner who has joined, once it has one.

mod app_url;
mod change;
mod invite;
mod join;
mod names;
mod own_account;
mod password_hash;
mod password_try;
mod refusal;
mod session;
mod sign_in;
mod sign_in_client;
mod sign_in_limits;
mod sign_in_link;
mod sign_in_refusal;
mod turn_queue;

pub use refract_persistence::{InvitationRow, OwnSessionRow, PersonRow};

pub use self::app_url::{AppUrl, NotAnAppUrl};
pub use self::change::{default_role, find, list, remove, set_role};
pub use self::invite::{Invitation, invite, reset};
pub use self::join::{JoinRefusal, accept, find_invitation};
pub use self::names::{MakerName, names};
pub use self::own_account::{
    PasswordChangeRefusal, change_password, end_other_sessions, end_own_session, own_sessions,
    rename,
};
pub use self::refusal::PersonRefusal;
pub use self::session::{Session, SessionEnd, SignedIn, end_session, session};
pub use self::sign_in::sign_in;
pub use self::sign_in_client::SignInClient;
pub use self::sign_in_link::{is_sign_in_link, sign_in_by_link, sign_in_link};
pub use self::sign_in_refusal::SignInRefusal;
