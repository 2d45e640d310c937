//! People for tests: invited, joined and signed in. The hash of each token is one byte 32 times.

use chrono::{DateTime, Utc};
use refract_domain::account::{Email, PersonName, Role, TokenHash};
use refract_domain::event::{Actor, EventAction, EventStamp};
use refract_domain::ids::{AccountId, PersonId};
use refract_persistence::{
    Database, InviteOutcome, NewBrowser, NewInvitation, NewPerson, NewSession, PasswordRow, Person,
    SessionsAlive,
};
use uuid::Uuid;

use crate::fixture::{Fixture, moment, new_stamp};

pub(crate) fn email(text: &str) -> Email {
    Email::parse(text).unwrap()
}

pub(crate) fn link(byte: u8) -> NewInvitation {
    NewInvitation {
        hash: TokenHash::new([byte; 32]),
        created_at: moment(0),
        expires_at: moment(1_000),
    }
}

pub(crate) fn new_session(byte: u8) -> NewSession {
    NewSession {
        hash: TokenHash::new([byte; 32]),
        browser: NewBrowser {
            hash: browser(byte),
            before: None,
        },
        now: moment(10),
    }
}

/// The cookie of the browser in which the session of this byte began.
pub(crate) fn browser(byte: u8) -> TokenHash {
    let mut hash = [byte; 32];
    hash[0] = !byte;
    TokenHash::new(hash)
}

/// The sessions that were used after one moment and begun after another one.
pub(crate) fn alive(used_after: i64, begun_after: i64) -> SessionsAlive {
    SessionsAlive {
        used_after: moment(used_after),
        begun_after: moment(begun_after),
    }
}

/// Whether the person of this address is known by a browser's cookie.
pub(crate) async fn is_known(it: &Fixture, cookie: TokenHash, address: &str) -> bool {
    let cookies = [TokenHash::new([255; 32]), cookie];
    let email = email(address);
    let found = it
        .database
        .find_known_browser(&cookies, Some(&email), moment(0));
    let found = found.await.unwrap();
    assert!(found.is_none_or(|found| found.hash == cookie));
    found.is_some()
}

pub(crate) fn new_person(it: &Fixture, address: &str, role: Role) -> NewPerson {
    NewPerson {
        id: PersonId::new(Uuid::now_v7()),
        account: it.account,
        email: email(address),
        role,
    }
}

pub(crate) async fn invite(it: &Fixture, address: &str, role: Role, byte: u8) -> PersonId {
    let new = new_person(it, address, role);
    let inviting = it.database.invite_person(&new, link(byte), it.stamp(0));
    match inviting.await.unwrap() {
        InviteOutcome::Invited(person) => person,
        other @ (InviteOutcome::HasJoined | InviteOutcome::OfOtherAccount) => panic!("{other:?}"),
    }
}

pub(crate) async fn accept(database: &Database, byte: u8, password: &str) -> bool {
    accept_in(database, byte, password, new_session(byte)).await
}

/// Accepts the link of this byte, as its person.
pub(crate) async fn accept_in(
    database: &Database,
    byte: u8,
    password: &str,
    session: NewSession,
) -> bool {
    let name = PersonName::parse("Ada").unwrap();
    let hash = TokenHash::new([byte; 32]);
    let found = database.find_invitation(hash, moment(1)).await.unwrap();
    let (account, person) = found.map_or_else(
        || {
            (
                AccountId::new(Uuid::now_v7()),
                PersonId::new(Uuid::now_v7()),
            )
        },
        |found| (found.account, found.person),
    );
    let stamp = EventStamp {
        actor: Actor::Person(person),
        ..new_stamp(account, 10)
    };
    let accepting = database.accept_invitation(hash, &name, Some(password), session, stamp);
    accepting.await.unwrap()
}

/// Makes a new link for a person of the account, as an operator; returns whether there is such a
/// person.
pub(crate) async fn renew(it: &Fixture, account: AccountId, person: PersonId, byte: u8) -> bool {
    let stamp = new_stamp(account, 0);
    let renewing = it
        .database
        .renew_link(person, link(byte), EventAction::LinkRenewed, stamp);
    renewing.await.unwrap()
}

/// A person who has joined by the link of this byte, and has the session of this byte.
pub(crate) async fn joined(it: &Fixture, address: &str, role: Role, byte: u8) -> PersonId {
    let person = invite(it, address, role, byte).await;
    assert!(accept(&it.database, byte, "hash").await);
    person
}

pub(crate) async fn people(it: &Fixture) -> Vec<Person> {
    it.database.list_people(it.account).await.unwrap()
}

pub(crate) async fn signed_in(it: &Fixture, byte: u8) -> Option<PersonId> {
    let found = it
        .database
        .find_session(TokenHash::new([byte; 32]), alive(0, 0));
    found.await.unwrap().map(|session| session.person)
}

pub(crate) async fn link_is_good(it: &Fixture, byte: u8, now: DateTime<Utc>) -> bool {
    let found = it.database.find_invitation(TokenHash::new([byte; 32]), now);
    found.await.unwrap().is_some()
}

pub(crate) async fn password_of(it: &Fixture, address: &str) -> Option<PasswordRow> {
    it.database.find_password(&email(address)).await.unwrap()
}
