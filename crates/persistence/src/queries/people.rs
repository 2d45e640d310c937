//! People of the app: invitations, sign-in, the limits on password guessing, and drafts.

mod accept_invitation;
mod codes_of_others;
mod drafts;
mod email_hash;
mod invitations;
mod known_browsers;
mod one_time_codes;
mod own_sessions;
mod passwords;
mod pending_sign_ins;
mod person;
mod provider_sessions;
mod sessions;
mod sign_in_tries;
mod sign_on;
mod unseen_changes;
mod wrong_tries;

pub use self::drafts::{DraftKind, DraftPlace, StoredDraftRow};
pub use self::email_hash::EmailHash;
pub use self::invitations::{InviteOutcome, NewInvitation, NewPerson, OpenInvitation};
pub use self::known_browsers::{KnownBrowserRow, NewBrowser};
pub use self::one_time_codes::{CodeProof, NewCodes, OneTimeCodesRow};
pub use self::own_sessions::{EndedSessions, OwnSession};
pub use self::passwords::PasswordRow;
pub use self::pending_sign_ins::{FinishedSignIn, NewPendingSignIn, PendingSignInRow};
pub use self::person::{Person, PersonNameRow, PersonOutcome};
pub use self::provider_sessions::{NewProviderSession, ProviderCheck, StoredGrant};
pub use self::sessions::{NewSession, SessionRow, SessionsAlive};
pub use self::sign_in_tries::{CountedTry, SignInCounter, SignInTry, TriesWindow};
pub use self::sign_on::{ProviderSubject, SignOnOutcome, SignOnPerson};
pub use self::wrong_tries::WrongTry;
