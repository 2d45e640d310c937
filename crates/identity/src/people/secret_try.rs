//! One try of a password, a one-time code or a provider's code, counted before the secret is
//! checked, so that the tries of all nodes are counted together; and the rate limits on wrong
//! tries.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use refract_domain::account::Email;
use refract_domain::event::{Actor, EventRequest};
use refract_domain::ids::{AccountId, PersonId, SignInTryId};
use refract_persistence::{
    CountedTry, Database, EmailHash, PasswordRow, SignInCounter, SignInTry, TriesWindow, WrongTry,
};
use uuid::Uuid;

use super::secrets::HashPlace;
use super::sign_in_error::SignInError;
use crate::events::event_stamp;
use crate::people::password::TypedPassword;

/// Wrong tries within [`COUNTED`] that block further tries, for one address from one network or one
/// known browser.
const WRONG_TRIES: u8 = 10;
/// How long a wrong try counts.
const COUNTED: TimeDelta = TimeDelta::minutes(15);
/// How far another node's clock may be ahead for its tries to count. Tries further ahead were made
/// before this clock was set back.
const CLOCKS_APART: TimeDelta = TimeDelta::minutes(1);
/// Other addresses with wrong tries from one network within [`COUNTED`] after which the network is
/// slowed: more than the people of one office mistype in a quarter of an hour.
const ADDRESSES: usize = 20;
/// How long a slowed network waits after each try.
const PACE: TimeDelta = TimeDelta::seconds(5);

/// A try of a secret for an address.
pub(super) struct SecretTry<'a> {
    pub(super) email: &'a Email,
    pub(super) counter: SignInCounter,
    pub(super) now: DateTime<Utc>,
    /// The request, and what the secret is or is for, unless it is a password to sign in, as the
    /// event of a wrong try names them.
    pub(super) request: Option<EventRequest>,
    pub(super) note: Option<&'static str>,
}

/// A password that was right when it was checked.
pub(super) struct RightPassword {
    pub(super) row: PasswordRow,
    /// The try, which counts as a wrong one until it is deleted.
    pub(super) tried: SignInTry,
}

impl SecretTry<'_> {
    /// Saves the try, which counts as a wrong one until it is deleted.
    ///
    /// The earlier tries are read twice: first without writing anything, so that a blocked try
    /// costs the database next to nothing, then after this try was saved. A blocked try does not
    /// count and has no event.
    ///
    /// # Errors
    /// When the try is blocked, or the database fails.
    pub(super) async fn begin(&self, database: &Database) -> Result<SignInTry, SignInError> {
        let window = window(self.now);
        let before = database.list_sign_in_tries(self.counter.clone(), window);
        self.let_through(&before.await?)?;
        let new = self.new_try();
        let others = database.save_sign_in_try(new.clone(), window).await?;
        if let Err(refusal) = self.let_through(&others) {
            database.delete_sign_in_try(new.id).await?;
            return Err(refusal);
        }
        Ok(new)
    }

    /// Whether the password belongs to the person with this address. An unknown address costs as
    /// much time as a wrong password. A wrong try for a person's address has an event.
    ///
    /// # Errors
    /// When address and password do not belong together, the try is blocked, or the database fails.
    pub(super) async fn check_password(
        &self,
        database: &Database,
        place: HashPlace,
        password: TypedPassword,
    ) -> Result<RightPassword, SignInError> {
        let tried = self.begin(database).await?;
        let found = database.find_password(self.email).await?;
        let hash = found.as_ref().map(|found| found.hash.clone());
        let is_right = place.verify(password, hash).await?;
        match found {
            Some(row) if is_right => Ok(RightPassword { row, tried }),
            found => {
                let person = found.map(|row| (row.account, row.person));
                Err(self.refuse(database, tried, person).await)
            }
        }
    }

    /// Saves that the try was wrong, with an event if the address is a person's. The one who tried
    /// is unknown, so the actor of the event is the node.
    pub(super) async fn refuse(
        &self,
        database: &Database,
        tried: SignInTry,
        person: Option<(AccountId, PersonId)>,
    ) -> SignInError {
        let person = person.map(|(account, person)| {
            let stamp = event_stamp(account, Actor::Node, self.request.clone());
            let stamp = match self.note {
                None => stamp,
                Some(note) => stamp.noted(note),
            };
            (person, stamp)
        });
        let wrong = WrongTry {
            tried,
            refused_at: Utc::now(),
            window: window(self.now),
            stopping: WRONG_TRIES.into(),
        };
        match database.refuse_sign_in_try(wrong, person).await {
            Ok(()) => SignInError::Wrong,
            Err(error) => error.into(),
        }
    }

    /// The try as it is saved.
    pub(super) fn new_try(&self) -> SignInTry {
        SignInTry {
            id: SignInTryId::new(Uuid::now_v7()),
            email: EmailHash::of(self.email),
            counter: self.counter.clone(),
            tried_at: self.now,
        }
    }

    fn let_through(&self, others: &[CountedTry]) -> Result<(), SignInError> {
        match limit(&self.counter, EmailHash::of(self.email), others, self.now) {
            None => Ok(()),
            Some(TryLimit::Address { until }) => Err(SignInError::TooManyTries { until }),
            Some(TryLimit::Network { until }) => Err(SignInError::Slowed {
                seconds: (until - self.now).num_seconds().unsigned_abs().max(1),
            }),
        }
    }
}

/// Why a try is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TryLimit {
    /// There were too many wrong tries for the address.
    Address { until: DateTime<Utc> },
    /// Too many addresses were tried from the network.
    Network { until: DateTime<Utc> },
}

/// The tries that count now.
pub(super) fn window(now: DateTime<Utc>) -> TriesWindow {
    TriesWindow {
        since: now - COUNTED,
        until: now + CLOCKS_APART,
        deleted_from: now + COUNTED,
    }
}

/// Whether a try for an address is blocked, given the other tries of its counter, oldest first.
pub(super) fn limit(
    counter: &SignInCounter,
    email: EmailHash,
    others: &[CountedTry],
    now: DateTime<Utc>,
) -> Option<TryLimit> {
    let of_address = others.iter().filter(|other| other.email == email);
    let of_address: Vec<_> = of_address.map(|other| other.tried_at).collect();
    if let Some(until) = stopped_until(&of_address) {
        return Some(TryLimit::Address { until });
    }
    match counter {
        SignInCounter::Browser(_) => None,
        SignInCounter::Network(_) => slowed_until(email, others)
            .filter(|until| *until > now)
            .map(|until| TryLimit::Network { until }),
    }
}

/// Until when the tries for an address are blocked, given the moments of the others, oldest first;
/// `None` for a try that is allowed.
fn stopped_until(of_address: &[DateTime<Utc>]) -> Option<DateTime<Utc>> {
    let too_many = of_address.len().checked_sub(WRONG_TRIES.into())?;
    let last_to_expire = of_address.get(too_many)?;
    Some(*last_to_expire + COUNTED)
}

/// When a network that tried many addresses may try the next one; `None` for other networks.
fn slowed_until(email: EmailHash, others: &[CountedTry]) -> Option<DateTime<Utc>> {
    let addresses = others.iter().map(|other| other.email.0);
    let addresses: BTreeSet<_> = addresses.filter(|address| *address != email.0).collect();
    let last = others.last()?;
    (addresses.len() >= ADDRESSES).then(|| last.tried_at + PACE)
}

#[cfg(test)]
mod tests {
    use refract_domain::account::TokenHash;

    use super::*;

    const ADA: EmailHash = EmailHash([255; 32]);

    fn at(seconds: i64) -> DateTime<Utc> {
        DateTime::UNIX_EPOCH + TimeDelta::seconds(seconds)
    }

    fn network() -> SignInCounter {
        SignInCounter::Network("203.0.113.0/24".to_owned())
    }

    /// Tries for one address, a minute apart.
    fn tries(number: i64) -> Vec<CountedTry> {
        let one = |minute| CountedTry {
            email: ADA,
            tried_at: at(60 * minute),
        };
        (0..number).map(one).collect()
    }

    /// A try for each of `addresses` other addresses, one a second.
    fn spraying(addresses: u8) -> Vec<CountedTry> {
        let one = |address| CountedTry {
            email: EmailHash([address; 32]),
            tried_at: at(i64::from(address)),
        };
        (0..addresses).map(one).collect()
    }

    #[test]
    fn ten_wrong_tries_stop_the_next_until_the_oldest_of_the_last_ten_expires() {
        let browser = SignInCounter::Browser(TokenHash::new([1; 32]));
        for counter in [network(), browser] {
            let limited = |number| limit(&counter, ADA, &tries(number), at(0));
            assert_eq!(limited(0), None);
            assert_eq!(limited(9), None);
            let until = |minute: i64| {
                Some(TryLimit::Address {
                    until: at(60 * minute),
                })
            };
            assert_eq!(limited(10), until(15));
            assert_eq!(limited(12), until(17));
            let other = limit(&counter, EmailHash([1; 32]), &tries(12), at(0));
            assert_eq!(other, None, "another address is not stopped");
        }
    }

    #[test]
    fn many_addresses_from_a_network_slow_it_to_one_try_in_five_seconds() {
        let limited = |addresses, now| limit(&network(), ADA, &spraying(addresses), at(now));
        assert_eq!(limited(19, 19), None);
        let slowed = Some(TryLimit::Network { until: at(24) });
        assert_eq!(limited(20, 20), slowed);
        assert_eq!(limited(20, 23), slowed);
        assert_eq!(limited(20, 24), None, "the next one");
        // an address's own tries do not count towards the number of addresses
        let mut with_own = spraying(19);
        with_own.extend(tries(1));
        assert_eq!(limit(&network(), ADA, &with_own, at(20)), None);
    }

    #[test]
    fn a_known_browser_is_not_slowed() {
        let browser = SignInCounter::Browser(TokenHash::new([1; 32]));
        assert_eq!(limit(&browser, ADA, &spraying(200), at(199)), None);
    }

    #[test]
    fn tries_count_for_15_minutes_and_not_when_they_are_ahead_of_the_clock() {
        let window = window(at(10_000));
        assert_eq!((window.since, window.until), (at(9_100), at(10_060)));
        assert_eq!(window.deleted_from, at(10_900));
    }
}
