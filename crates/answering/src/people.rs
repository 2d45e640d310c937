//! People of the app: invited by link, signed in by password, and named beside what they made.
//!
//! Links and sessions are opened by tokens of which the database keeps hashes. An account keeps at
//! least one owner who has joined, once it has one.

mod change;
mod invite;
mod join;
mod names;
mod password_hash;
mod refusal;
mod session;
mod sign_in;
mod sign_in_link;

pub use refract_persistence::{InvitationRow, PersonRow};

pub use self::change::{default_role, find, list, remove, set_role};
pub use self::invite::{Invitation, invite, reset};
pub use self::join::{JoinRefusal, accept, find_invitation};
pub use self::names::{MakerName, names};
pub use self::refusal::PersonRefusal;
pub use self::session::{Session, SignedIn, session, sign_out};
pub use self::sign_in::{SignInRefusal, sign_in};
pub use self::sign_in_link::{sign_in_by_link, sign_in_link};
