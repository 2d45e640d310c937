//! Sign-in under attack: which clients wrong tries block, and what people change about their own
//! password and sessions.

use std::time::Duration;

use refract_domain::account::{PersonName, Role};
use refract_identity::people::{
    AccountActor, PasswordChangeError, SecretError, Session, SignInClient, SignInError, SignedIn,
    Token, TypedPassword,
};
use refract_test_support::on_both;

use crate::fixture::Fixture;
use crate::people::{ADA, PASSWORD, accept, invite, joined, signed_in, without_code};

on_both!(
    ten_wrong_tries_stop_their_network_and_nobody_else,
    a_browser_that_signed_in_before_is_counted_by_itself,
    a_copied_or_made_up_cookie_is_worth_nothing,
    a_new_password_by_link_lets_the_person_in_at_once,
    many_addresses_from_one_network_slow_it_and_nobody_else,
    what_is_no_address_costs_nothing,
    a_person_changes_name_and_password,
    wrong_present_passwords_are_limited_by_session,
    a_person_sees_and_ends_their_own_sessions,
);

pub(crate) const OFFICE: &str = "203.0.113.0/24";
pub(crate) const ATTACKER: &str = "198.51.100.0/24";

pub(crate) fn stranger(network: &str) -> SignInClient {
    SignInClient::new(network.to_owned(), Vec::new())
}

pub(crate) fn browser(network: &str, cookie: &Token) -> SignInClient {
    SignInClient::new(network.to_owned(), vec![cookie.clone()])
}

pub(crate) async fn sign_in(
    it: &Fixture,
    client: &SignInClient,
    email: &str,
    password: &str,
) -> Result<Session, SignInError> {
    let password = TypedPassword::new(password);
    it.identity
        .people()
        .sign_in(client, email, password, None)
        .await
        .map(without_code)
}

/// Tries wrong passwords until the next ones are blocked.
pub(crate) async fn exhaust(it: &Fixture, client: &SignInClient, email: &str) {
    for _ in 0..10 {
        let wrong = loop {
            let wrong = sign_in(it, client, email, "wrong").await;
            // tests of one process share the room for password hashes
            let is_busy = matches!(wrong, Err(SignInError::Secret(SecretError::Busy)));
            if !is_busy {
                break wrong;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert!(
            matches!(wrong, Err(SignInError::Wrong)),
            "{:?}",
            wrong.err()
        );
    }
    assert!(is_stopped(it, client, email).await);
}

/// Whether even the right password is blocked.
async fn is_stopped(it: &Fixture, client: &SignInClient, email: &str) -> bool {
    match sign_in(it, client, email, PASSWORD).await {
        Ok(_) => false,
        Err(SignInError::TooManyTries { .. }) => true,
        Err(other) => panic!("{other}"),
    }
}

pub(crate) async fn who(it: &Fixture, session: &Session) -> SignedIn {
    signed_in(it, session).await.unwrap()
}

async fn ten_wrong_tries_stop_their_network_and_nobody_else(it: Fixture) {
    joined(&it, ADA).await;
    exhaust(&it, &stranger(ATTACKER), ADA).await;
    assert!(!is_stopped(&it, &stranger(OFFICE), ADA).await);
    assert!(is_stopped(&it, &stranger(ATTACKER), ADA).await);
}

async fn a_browser_that_signed_in_before_is_counted_by_itself(it: Fixture) {
    let (_, session) = joined(&it, ADA).await;
    exhaust(&it, &stranger(ATTACKER), ADA).await;
    // Ada's own browser, in the attacker's network
    let known = browser(ATTACKER, &session.browser);
    let session = sign_in(&it, &known, ADA, PASSWORD).await.unwrap();
    let known = browser(ATTACKER, &session.browser);
    exhaust(&it, &known, ADA).await;
    assert!(!is_stopped(&it, &stranger(OFFICE), ADA).await);
    // it is limited in every network
    assert!(is_stopped(&it, &browser(OFFICE, &session.browser), ADA).await);
}

async fn a_copied_or_made_up_cookie_is_worth_nothing(it: Fixture) {
    let (_, adas) = joined(&it, ADA).await;
    let (_, graces) = joined(&it, "grace@example.com").await;
    exhaust(&it, &stranger(ATTACKER), ADA).await;
    let made_up = Token::from_random([7; 43]);
    for cookie in [&made_up, &graces.browser] {
        let client = browser(ATTACKER, cookie);
        assert!(
            is_stopped(&it, &client, ADA).await,
            "it is not known for Ada"
        );
    }
    // a copy is known until Ada signs in again with the browser that it was copied from
    sign_in(&it, &browser(OFFICE, &adas.browser), ADA, PASSWORD)
        .await
        .unwrap();
    assert!(is_stopped(&it, &browser(ATTACKER, &adas.browser), ADA).await);
    // nor does a cookie sign anybody in
    let found = it.identity.people().session(&adas.browser).await;
    assert_eq!(found.unwrap().signed_in(), None);
    // of several cookies, one was planted before the right one
    let again = sign_in(&it, &stranger(OFFICE), ADA, PASSWORD)
        .await
        .unwrap();
    let both = vec![made_up, again.browser.clone()];
    let client = SignInClient::new(ATTACKER.to_owned(), both);
    assert!(!is_stopped(&it, &client, ADA).await);
}

async fn a_new_password_by_link_lets_the_person_in_at_once(it: Fixture) {
    let (ada, _) = joined(&it, ADA).await;
    exhaust(&it, &stranger(OFFICE), ADA).await;
    let actor = AccountActor::operator(it.account);
    let link = it.identity.people().reset(&actor, ada.person).await;
    accept(&it, &link.unwrap(), PASSWORD).await.unwrap();
    assert!(!is_stopped(&it, &stranger(OFFICE), ADA).await);
}

async fn many_addresses_from_one_network_slow_it_and_nobody_else(it: Fixture) {
    let (_, session) = joined(&it, ADA).await;
    for number in 0..20 {
        let email = format!("{number}@example.com");
        let wrong = sign_in(&it, &stranger(ATTACKER), &email, "wrong").await;
        assert!(
            matches!(wrong, Err(SignInError::Wrong)),
            "{:?}",
            wrong.err()
        );
    }
    let slowed = sign_in(&it, &stranger(ATTACKER), ADA, PASSWORD).await;
    match slowed {
        Err(SignInError::Slowed { seconds }) => assert!((1..=5).contains(&seconds)),
        other => panic!("{:?}", other.err()),
    }
    assert!(sign_in(&it, &stranger(OFFICE), ADA, PASSWORD).await.is_ok());
    let known = browser(ATTACKER, &session.browser);
    assert!(sign_in(&it, &known, ADA, PASSWORD).await.is_ok());
}

async fn what_is_no_address_costs_nothing(it: Fixture) {
    for _ in 0..100 {
        let wrong = sign_in(&it, &stranger(OFFICE), "nobody at all", "wrong").await;
        assert!(matches!(wrong, Err(SignInError::Wrong)));
    }
}

pub(crate) async fn change(
    it: &Fixture,
    session: &Session,
    present: &str,
    new: &str,
) -> Result<Session, PasswordChangeError> {
    let client = browser(OFFICE, &session.browser);
    let person = who(it, session).await;
    let (present, new) = (TypedPassword::new(present), TypedPassword::new(new));
    it.identity
        .people()
        .change_password(&client, &person, present, new, None)
        .await
}

async fn a_person_changes_name_and_password(it: Fixture) {
    let (_, session) = joined(&it, ADA).await;
    let elsewhere = sign_in(&it, &stranger(OFFICE), ADA, PASSWORD)
        .await
        .unwrap();
    let name = PersonName::parse("Countess").unwrap();
    let person = who(&it, &session).await;
    let renaming = it.identity.people().rename(&person, &name, None);
    renaming.await.unwrap();
    assert_eq!(who(&it, &session).await.name, "Countess");

    let weak = change(&it, &session, PASSWORD, "Countess123").await;
    assert!(matches!(weak, Err(PasswordChangeError::Weak(_))));
    let wrong = change(&it, &session, "wrong", "another 9kQ3 one").await;
    assert!(matches!(
        wrong,
        Err(PasswordChangeError::Present(SignInError::Wrong))
    ));
    assert!(
        signed_in(&it, &elsewhere).await.is_some(),
        "nothing ends yet"
    );
    let new = change(&it, &session, PASSWORD, "another 9kQ3 one").await;
    let new = new.ok().unwrap();
    assert!(signed_in(&it, &new).await.is_some());
    for before in [&session, &elsewhere] {
        assert_eq!(
            signed_in(&it, before).await,
            None,
            "a copy of its cookie too"
        );
    }
    let old = sign_in(&it, &stranger(OFFICE), ADA, PASSWORD).await;
    assert!(matches!(old, Err(SignInError::Wrong)));
    let password = "another 9kQ3 one";
    assert!(sign_in(&it, &stranger(OFFICE), ADA, password).await.is_ok());
}

async fn wrong_present_passwords_are_limited_by_session(it: Fixture) {
    let (_, session) = joined(&it, ADA).await;
    for _ in 0..10 {
        let wrong = change(&it, &session, "wrong", "another 9kQ3 one").await;
        assert!(matches!(
            wrong,
            Err(PasswordChangeError::Present(SignInError::Wrong))
        ));
    }
    let stopped = change(&it, &session, PASSWORD, "another 9kQ3 one").await;
    assert!(matches!(
        stopped,
        Err(PasswordChangeError::Present(
            SignInError::TooManyTries { .. }
        ))
    ));
    assert!(!is_stopped(&it, &stranger(OFFICE), ADA).await);
}

async fn a_person_sees_and_ends_their_own_sessions(it: Fixture) {
    let (_, first) = joined(&it, ADA).await;
    let grace = invite(&it, "grace@example.com", Role::Reviewer).await;
    let graces = accept(&it, &grace.unwrap(), PASSWORD).await.unwrap();
    let second = sign_in(&it, &stranger(OFFICE), ADA, PASSWORD)
        .await
        .unwrap();
    let third = sign_in(&it, &stranger(OFFICE), ADA, PASSWORD)
        .await
        .unwrap();
    let ada = who(&it, &third).await;
    let listed = async || {
        let listed = it.identity.people().own_sessions(&ada).await.unwrap();
        let mut hashes: Vec<_> = listed.iter().map(|session| session.hash.bytes()).collect();
        hashes.sort_unstable();
        hashes
    };
    let hashes = |sessions: &[&Session]| {
        let hashes = sessions.iter().map(|session| session.token.hash().bytes());
        let mut hashes: Vec<_> = hashes.collect();
        hashes.sort_unstable();
        hashes
    };
    assert_eq!(listed().await, hashes(&[&first, &second, &third]));
    for session in [&graces, &second] {
        let ending = it
            .identity
            .people()
            .end_own_session(&ada, session.token.hash(), None);
        ending.await.unwrap();
    }
    assert_eq!(listed().await, hashes(&[&first, &third]));
    assert_eq!(signed_in(&it, &second).await, None);
    it.identity
        .people()
        .end_other_sessions(&ada, None)
        .await
        .unwrap();
    assert_eq!(listed().await, hashes(&[&third]));
    assert!(signed_in(&it, &graces).await.is_some(), "not hers to end");
}
