//! Sign-in tries that did not succeed, by the hash of the typed address and by the client's network
//! or known browser.

use chrono::{DateTime, Utc};
use diesel::prelude::*;
use refract_boxed_futures::boxed;
use refract_domain::account::{Email, TokenHash};
use refract_domain::event::{EventAction, EventDetail, EventStamp, EventTarget};
use refract_domain::ids::{PersonId, SignInTryId};
use sha2::{Digest as _, Sha256};

use crate::connections::{Connection, Transaction, on};
use crate::error::PersistenceError;
use crate::queries::database::Database;
use crate::queries::events::add_event;
use crate::queries::people::person::lock_person;
use crate::schema::sign_in_tries;
use crate::schema::sql_types::Bind;
use crate::schema::stored::{NamedColumn, Stored, UnreadableColumn};

/// The most tries that are read: many more than are allowed in the time in which they count.
const MOST_TRIES: i64 = 1_000;

/// Which tries are counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignInCounter {
    /// The tries of a client's network, by the network's name.
    Network(String),
    /// The tries of one browser, by the hash of the cookie that it got when a person signed in.
    Browser(TokenHash),
}

/// A sign-in try, saved before the password is checked.
#[derive(Clone, Debug)]
pub struct SignInTry {
    /// `UUIDv7`.
    pub id: SignInTryId,
    /// The hash of the typed address.
    pub email: EmailHash,
    /// The counter of the try.
    pub counter: SignInCounter,
    /// When the try was made.
    pub tried_at: DateTime<Utc>,
}

/// The time in which tries count.
#[derive(Clone, Copy, Debug)]
pub struct TriesWindow {
    /// Older tries do not count, and are deleted when a try is saved.
    pub since: DateTime<Utc>,
    /// Later tries do not count: the clock was set back after them, or another node's clock is
    /// ahead.
    pub until: DateTime<Utc>,
    /// Tries from this moment on were made under a wrong clock, and are deleted when a try is
    /// saved.
    pub deleted_from: DateTime<Utc>,
}

/// A try that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Queryable)]
pub struct CountedTry {
    /// The hash of the typed address.
    #[diesel(deserialize_as = Stored<sign_in_tries::email_hash>)]
    pub email: EmailHash,
    /// When the try was made.
    pub tried_at: DateTime<Utc>,
}

/// Lists the tries of a counter with their ids, newest first.
async fn list_counted(
    connection: &mut Connection,
    counter: SignInCounter,
    window: TriesWindow,
) -> QueryResult<Vec<(SignInTryId, CountedTry)>> {
    let in_time = sign_in_tries::table
        .filter(sign_in_tries::tried_at.ge(Bind(window.since)))
        .filter(sign_in_tries::tried_at.le(Bind(window.until)))
        .order(sign_in_tries::tried_at.desc())
        .limit(MOST_TRIES)
        .select((
            sign_in_tries::id,
            (sign_in_tries::email_hash, sign_in_tries::tried_at),
        ));
    match counter {
        SignInCounter::Network(network) => {
            let tries = in_time.filter(sign_in_tries::network.eq(network));
            on!(connection, load(tries))
        }
        SignInCounter::Browser(hash) => {
            let tries = in_time.filter(sign_in_tries::browser_hash.eq(hash.bytes().to_vec()));
            on!(connection, load(tries))
        }
    }
}

#[boxed]
impl Database {
    /// The tries of a counter, for any address, oldest first. When there are very many, only the
    /// newest.
    pub async fn list_sign_in_tries(
        &self,
        counter: SignInCounter,
        window: TriesWindow,
    ) -> Result<Vec<CountedTry>, PersistenceError> {
        self.read(async move |mut connection| {
            let found = list_counted(&mut connection, counter, window).await?;
            Ok(found
                .into_iter()
                .rev()
                .map(|(_, counted)| counted)
                .collect())
        })
        .await
    }

    /// Saves a try, then returns the others of its counter, for any address, oldest first. Each try
    /// is saved before it reads, so of any number of concurrent tries the last one sees all the
    /// others.
    ///
    /// Tries of any counter that are too old or too far ahead of the clock to count are deleted.
    /// Three statements.
    pub async fn save_sign_in_try(
        &self,
        new: SignInTry,
        window: TriesWindow,
    ) -> Result<Vec<CountedTry>, PersistenceError> {
        self.write(async move |mut connection| {
            let is_over = sign_in_tries::tried_at
                .lt(Bind(window.since))
                .or(sign_in_tries::tried_at.gt(Bind(window.deleted_from)));
            let over = diesel::delete(sign_in_tries::table.filter(is_over));
            on!(connection, execute(over))?;
            let (network, browser) = match &new.counter {
                SignInCounter::Network(network) => (Some(network.clone()), None),
                SignInCounter::Browser(hash) => (None, Some(hash.bytes().to_vec())),
            };
            let insert = diesel::insert_into(sign_in_tries::table).values((
                sign_in_tries::id.eq(Bind(new.id)),
                sign_in_tries::email_hash.eq(new.email.0.to_vec()),
                sign_in_tries::tried_at.eq(Bind(new.tried_at)),
                sign_in_tries::network.eq(network),
                sign_in_tries::browser_hash.eq(browser),
            ));
            on!(connection, execute(insert))?;
            let found = list_counted(&mut connection.into(), new.counter, window).await?;
            let others = found.into_iter().rev().filter(|(id, _)| *id != new.id);
            Ok(others.map(|(_, counted)| counted).collect())
        })
        .await
    }

    /// Deletes a try that succeeded or was blocked.
    pub async fn delete_sign_in_try(&self, id: SignInTryId) -> Result<(), PersistenceError> {
        let of_id = sign_in_tries::table.find(Bind(id));
        self.execute(diesel::delete(of_id)).await?;
        Ok(())
    }
}

/// SHA-256 of a typed address: the addresses that strangers try are not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmailHash(pub [u8; 32]);

impl EmailHash {
    /// The hash of an address.
    pub fn of(email: &Email) -> Self {
        Self(Sha256::digest(email.as_str().as_bytes()).into())
    }
}

impl<C: NamedColumn<Form = Vec<u8>>> TryFrom<Stored<C>> for EmailHash {
    type Error = UnreadableColumn;

    fn try_from(Stored(bytes): Stored<C>) -> Result<Self, UnreadableColumn> {
        let read = bytes.try_into().map(Self);
        read.map_err(|_| UnreadableColumn(C::NAME))
    }
}

/// A sign-in try whose password was wrong.
#[derive(Clone, Debug)]
pub struct WrongTry {
    /// The try, as it was saved before the password check.
    pub tried: SignInTry,
    /// When its password turned out to be wrong.
    pub refused_at: DateTime<Utc>,
    /// The time in which tries count.
    pub window: TriesWindow,
    /// How many wrong tries for the address, by this try's counter, block the next one.
    pub stopping: u32,
}

/// Counts the wrong tries for the address of a try, by its counter.
async fn count_wrong(tx: &mut Transaction, wrong: &WrongTry) -> QueryResult<i64> {
    let of_address = sign_in_tries::table
        .filter(sign_in_tries::tried_at.ge(Bind(wrong.window.since)))
        .filter(sign_in_tries::tried_at.le(Bind(wrong.window.until)))
        .filter(sign_in_tries::email_hash.eq(wrong.tried.email.0.to_vec()))
        .filter(sign_in_tries::refused_at.is_not_null());
    match wrong.tried.counter.clone() {
        SignInCounter::Network(network) => {
            let wrong = of_address.filter(sign_in_tries::network.eq(network));
            on!(tx, get_result(wrong.count()))
        }
        SignInCounter::Browser(hash) => {
            let wrong = of_address.filter(sign_in_tries::browser_hash.eq(hash.bytes().to_vec()));
            on!(tx, get_result(wrong.count()))
        }
    }
}

#[boxed]
impl Database {
    /// Records that a try was wrong. If the address is a person's, an event of the refusal is
    /// saved, and another one when the wrong tries reach the number that blocks the next. One
    /// transaction: of several concurrent tries, one reaches the number. An unknown address costs a
    /// commit too, so that timing does not reveal which addresses exist.
    pub async fn refuse_sign_in_try(
        &self,
        wrong: WrongTry,
        person: Option<(PersonId, EventStamp)>,
    ) -> Result<(), PersistenceError> {
        self.begin(async move |mut tx| {
            let mut refused = None;
            if let Some((person, stamp)) = person
                // concurrent wrong tries are counted one after the other
                && lock_person(&mut tx, person).await?
            {
                refused = Some((EventTarget::Person(person), stamp));
            }
            let update = diesel::update(sign_in_tries::table.find(Bind(wrong.tried.id)))
                .set(sign_in_tries::refused_at.eq(Some(wrong.refused_at)));
            on!(tx, execute(update))?;
            if let Some((person, stamp)) = refused {
                let further = stamp.further();
                add_event(&mut tx, stamp.event(EventAction::SignInRefused, person)).await?;
                if count_wrong(&mut tx, &wrong).await? == i64::from(wrong.stopping) {
                    let number = u64::from(wrong.stopping);
                    let stopped = "wrong tries, the next ones are stopped for a while";
                    let further = further.noted(EventDetail::worded(number, stopped));
                    let event = further.event(EventAction::SignInRefused, person);
                    add_event(&mut tx, event).await?;
                }
            }
            Ok(tx.commit().await?)
        })
        .await
    }
}
