//! People of the app: invitations, sign-in, the limits on password guessing, and drafts.

mod codes_of_others;
mod drafts;
mod invitations;
mod one_time_codes;
mod passwords;
mod pending_sign_ins;
mod person;
mod provider_sessions;
mod sessions;
mod sign_in_tries;
mod sign_on;

pub use self::drafts::{DraftKind, DraftPlace, StoredDraftRow};
pub use self::invitations::{InviteOutcome, NewInvitation, NewPerson, OpenInvitation};
pub use self::one_time_codes::{CodeProof, NewCodes, OneTimeCodesRow};
pub use self::passwords::PasswordRow;
pub use self::pending_sign_ins::{FinishedSignIn, NewPendingSignIn, PendingSignInRow};
pub use self::person::{Person, PersonNameRow, PersonOutcome};
pub use self::provider_sessions::{NewProviderSession, ProviderCheck, StoredGrant};
pub use self::sessions::{
    EndedSessions, KnownBrowserRow, NewBrowser, NewSession, OwnSession, SessionRow, SessionsAlive,
};
pub use self::sign_in_tries::{
    CountedTry, EmailHash, SignInCounter, SignInTry, TriesWindow, WrongTry,
};
pub use self::sign_on::{ProviderSubject, SignOnOutcome, SignOnPerson};
