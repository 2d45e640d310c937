//! Sessions: how a signed-in person is recognised from one request to the next, and when a provider
//! that began a session is asked again about it.

use chrono::{DateTime, TimeDelta, Utc};
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, Role, TokenHash};
use refract_domain::event::{Actor, EventRequest, EventStamp};
use refract_domain::ids::{AccountId, EventId, PersonId};
use refract_persistence::{
    EndedSessions, NewBrowser, NewSession, PersistenceError, ProviderCheck, SessionRow,
    SessionsAlive,
};

use refract_sign_on::SignOn;

use super::sign_in_client::SignInWays;
use crate::events::event_stamp;
use crate::people::People;
use crate::people::secrets::{SecretError, Token, random_bytes};

/// Idle timeout: how long a session lasts after its last use.
const LASTS_UNUSED: TimeDelta = TimeDelta::days(30);
/// Absolute timeout: how long a session lasts even in constant use, so that a stolen cookie does
/// not work for ever.
const LASTS: TimeDelta = TimeDelta::days(90);
/// Last use is saved at most once in this time, so that most requests write nothing.
const NOTED_EVERY: TimeDelta = TimeDelta::hours(1);
/// Age of a check at which the provider is asked again.
pub(super) const RECHECK: TimeDelta = TimeDelta::minutes(10);
/// Age of a check up to which a provider that is away is not missed.
const AWAY: TimeDelta = TimeDelta::hours(1);
/// How long a session lasts whose provider cannot be asked again: a working day.
const LASTS_UNCHECKED: TimeDelta = TimeDelta::hours(8);
/// When the provider is asked again after it was away.
pub(super) const AGAIN: TimeDelta = TimeDelta::minutes(1);

/// A session that has begun. The tokens are the only copies: the database stores hashes.
pub struct Session {
    /// The token of the cookie that signs in.
    pub token: Token,
    /// The token of the cookie by which the browser is known, which signs nobody in.
    pub browser: Token,
}

/// A person who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The session.
    pub session: TokenHash,
    /// The account that the person belongs to.
    pub account: AccountId,
    /// The person.
    pub person: PersonId,
    /// The person's address.
    pub email: Email,
    /// The name that the person chose.
    pub name: String,
    /// What the person may do.
    pub role: Role,
    /// The first change by somebody else that is still to be announced to the person.
    pub first_unseen_event: Option<EventId>,
    /// Whether the sign-in provider signed the person in.
    pub is_by_provider: bool,
    /// Whether the person has a password that signs in here.
    pub has_password: bool,
    /// Whether the person signs in by links that an operator makes, as a demo's owner does, and
    /// nobody knows a password.
    pub is_by_link: bool,
    /// What the account requires of the person's one-time codes before anything else.
    pub codes_due: Option<CodesDue>,
}

/// What is due of one-time codes that the account requires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodesDue {
    /// The person has none and sets them up.
    SetUp,
    /// The sign-in provider asked for no second factor, so a code is given.
    Code,
}

/// What a cookie's token is worth.
pub enum SessionState {
    /// Nothing: its session has ended or never existed.
    Ended,
    /// It signs this person in.
    SignedIn(SignedIn),
    /// The sign-in provider is to be asked first, by [`People::check_with_provider`].
    CheckDue,
}

impl SessionState {
    /// The person who is signed in.
    pub fn signed_in(self) -> Option<SignedIn> {
        match self {
            Self::SignedIn(person) => Some(person),
            Self::Ended | Self::CheckDue => None,
        }
    }
}

/// Why a browser's session ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionEnd {
    /// The person signed out.
    SignedOut,
    /// A person, often the same one, signed in with the browser.
    Replaced,
}

impl SignedIn {
    pub(super) fn of(session: TokenHash, found: SessionRow, ways: &SignInWays) -> Self {
        Self {
            session,
            codes_due: CodesDue::of(&found, ways),
            has_password: found.has_password && ways.passwords,
            is_by_link: found.is_by_link,
            account: found.account,
            person: found.person,
            name: found.name.unwrap_or_else(|| found.email.to_string()),
            email: found.email,
            role: found.role,
            first_unseen_event: found.first_unseen_event,
            is_by_provider: found.provider_check.is_some(),
        }
    }

    /// The stamp for an event of what people change about themselves now.
    pub(super) fn event_stamp(&self, request: Option<EventRequest>) -> EventStamp {
        event_stamp(self.account, Actor::Person(self.person), request)
    }
}

impl CodesDue {
    fn of(found: &SessionRow, ways: &SignInWays) -> Option<Self> {
        if !found.requires_codes || found.is_by_link {
            return None;
        }
        let asks = ways
            .provider
            .as_ref()
            .is_some_and(SignOn::asks_for_second_factor);
        match found.provider_check {
            Some(check) if check.had_second_factor || asks => None,
            Some(_) if found.has_codes => Some(Self::Code),
            // a password signs in with a code only
            None if found.has_codes => None,
            Some(_) | None => Some(Self::SetUp),
        }
    }
}

#[boxed]
impl People<'_> {
    /// What a cookie's token is worth. One query, and a write about once an hour.
    pub async fn session(self, token: &Token) -> Result<SessionState, PersistenceError> {
        let database = &self.identity.database;
        let now = Utc::now();
        let hash = token.hash();
        let Some(found) = database.find_session(hash, alive(now)).await? else {
            return Ok(SessionState::Ended);
        };
        if let Some(check) = found.provider_check
            && CheckStanding::of(check, now) != CheckStanding::Good
        {
            return Ok(SessionState::CheckDue);
        }
        if now - found.last_used_at >= NOTED_EVERY {
            database.note_session_use(hash, now).await?;
        }
        Ok(SessionState::SignedIn(self.signed_in(hash, found)))
    }

    pub(super) fn signed_in(self, session: TokenHash, found: SessionRow) -> SignedIn {
        SignedIn::of(session, found, &self.identity.sign_in_ways)
    }

    /// Ends the session of a signed-in person. Ending it again changes nothing.
    pub async fn end_session(
        self,
        person: &SignedIn,
        why: SessionEnd,
        request: Option<EventRequest>,
    ) -> Result<(), PersistenceError> {
        let stamp = person.event_stamp(request).noted(match why {
            SessionEnd::SignedOut => "signed out",
            SessionEnd::Replaced => "somebody signed in with the same browser",
        });
        let one = EndedSessions::One(person.session);
        let alive = alive(stamp.at);
        self.identity
            .database
            .end_own_sessions(person.person, one, alive, stamp)
            .await
    }
}

/// The timeouts as moments: at `now`, a session last used or begun before them has ended.
pub(super) fn alive(now: DateTime<Utc>) -> SessionsAlive {
    SessionsAlive {
        used_after: now - LASTS_UNUSED,
        begun_after: now - LASTS,
    }
}

/// A session that begins now, in a browser that had this cookie. The browser gets a new cookie each
/// time, so that a planted or copied cookie is worthless from then on.
pub(super) fn new_session(
    browser_before: Option<TokenHash>,
) -> Result<(Session, NewSession), SecretError> {
    let token = Token::from_random(random_bytes()?);
    let browser = Token::from_random(random_bytes()?);
    let new = NewSession {
        hash: token.hash(),
        browser: NewBrowser {
            hash: browser.hash(),
            before: browser_before,
        },
        now: Utc::now(),
    };
    Ok((Session { token, browser }, new))
}

/// Whether a session of a provider's person may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckStanding {
    /// The provider was asked lately.
    Good,
    /// The provider is to be asked now.
    Due,
    /// The provider cannot be asked, and the session is over.
    Over,
}

impl CheckStanding {
    pub(super) fn of(check: ProviderCheck, now: DateTime<Utc>) -> Self {
        match check.next_check_at {
            Some(next) if now < next && is_missed_not(check, now) => Self::Good,
            Some(_) => Self::Due,
            None if now - check.checked_at < LASTS_UNCHECKED => Self::Good,
            None => Self::Over,
        }
    }
}

/// Whether a check is young enough for a session to go on while the provider is away.
pub(super) fn is_missed_not(check: ProviderCheck, now: DateTime<Utc>) -> bool {
    now - check.checked_at < AWAY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_due_after_its_time_and_over_after_a_day_of_work() {
        let checked_at = DateTime::UNIX_EPOCH;
        let standing = |next: Option<TimeDelta>, now: TimeDelta| {
            let check = ProviderCheck {
                checked_at,
                next_check_at: next.map(|next| checked_at + next),
                had_second_factor: false,
            };
            CheckStanding::of(check, checked_at + now)
        };
        let minutes = TimeDelta::minutes;
        assert_eq!(standing(Some(RECHECK), minutes(9)), CheckStanding::Good);
        assert_eq!(standing(Some(RECHECK), minutes(10)), CheckStanding::Due);
        // the provider was away until now, and is asked again in a moment
        let put_off = |age| standing(Some(minutes(age) + AGAIN), minutes(age));
        assert_eq!(put_off(59), CheckStanding::Good);
        assert_eq!(put_off(60), CheckStanding::Due);
        assert_eq!(standing(None, minutes(479)), CheckStanding::Good);
        assert_eq!(standing(None, minutes(480)), CheckStanding::Over);
    }
}
