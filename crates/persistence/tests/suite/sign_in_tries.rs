//! Sign-in tries, counted by network or by known browser, and the browsers that are known.

use refract_domain::account::{Role, TokenHash};
use refract_domain::ids::SignInTryId;
use refract_persistence::{
    CountedTry, EmailHash, NewBrowser, NewSession, SignInCounter, SignInTry, TriesWindow,
};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, moment};
use crate::joined_people::{
    accept, alive, browser, email, is_known, joined, new_session, password_of, renew,
};

on_both!(
    tries_are_counted_by_network_until_they_are_old,
    tries_of_a_browser_are_counted_apart_from_its_network,
    tries_under_a_clock_that_was_ahead_do_not_count_and_are_deleted,
    of_tries_at_once_the_last_sees_the_others,
    a_new_password_clears_the_tries_of_its_address,
    a_browser_is_known_by_its_newest_cookie_alone,
    people_who_share_a_browser_stay_known,
);

const ADA: &str = "ada@example.com";
const GRACE: &str = "grace@example.com";

pub(crate) fn network(name: &str) -> SignInCounter {
    SignInCounter::Network(name.to_owned())
}

pub(crate) fn attempt(address: &str, counter: SignInCounter, milliseconds: i64) -> SignInTry {
    SignInTry {
        id: SignInTryId::new(Uuid::now_v7()),
        email: EmailHash::of(&email(address)),
        counter,
        tried_at: moment(milliseconds),
    }
}

pub(crate) fn window(since: i64, until: i64, deleted_from: i64) -> TriesWindow {
    TriesWindow {
        since: moment(since),
        until: moment(until),
        deleted_from: moment(deleted_from),
    }
}

fn counted(address: &str, milliseconds: i64) -> CountedTry {
    CountedTry {
        email: EmailHash::of(&email(address)),
        tried_at: moment(milliseconds),
    }
}

async fn save(it: &Fixture, new: SignInTry, window: TriesWindow) -> Vec<CountedTry> {
    it.database.save_sign_in_try(new, window).await.unwrap()
}

async fn listed(it: &Fixture, counter: SignInCounter, window: TriesWindow) -> Vec<CountedTry> {
    it.database
        .list_sign_in_tries(counter, window)
        .await
        .unwrap()
}

async fn tries_are_counted_by_network_until_they_are_old(it: Fixture) {
    let save = async |address: &str, name: &str, milliseconds: i64, since: i64| {
        let new = attempt(address, network(name), milliseconds);
        let id = new.id;
        (id, save(&it, new, window(since, 100, 100)).await)
    };
    let office = "203.0.113.0/24";
    assert_eq!(save(ADA, office, 0, -10).await.1, []);
    assert_eq!(save(ADA, "198.51.100.0/24", 2, -8).await.1, []);
    assert_eq!(save(GRACE, office, 5, -5).await.1, [counted(ADA, 0)]);
    let (id, others) = save(ADA, office, 10, 0).await;
    assert_eq!(others, [counted(ADA, 0), counted(GRACE, 5)], "oldest first");
    it.database.delete_sign_in_try(id).await.unwrap();
    let of_office = listed(&it, network(office), window(0, 100, 100)).await;
    assert_eq!(of_office, [counted(ADA, 0), counted(GRACE, 5)]);
    assert_eq!(save(ADA, office, 11, 1).await.1, [counted(GRACE, 5)]);
    let deleted = save(ADA, office, 12, 0).await.1;
    assert_eq!(
        deleted,
        [counted(GRACE, 5), counted(ADA, 11)],
        "the first is deleted"
    );
}

async fn tries_of_a_browser_are_counted_apart_from_its_network(it: Fixture) {
    let all = window(-10, 100, 100);
    let known = SignInCounter::Browser(TokenHash::new([7; 32]));
    let other = SignInCounter::Browser(TokenHash::new([8; 32]));
    assert_eq!(save(&it, attempt(ADA, known.clone(), 0), all).await, []);
    assert_eq!(save(&it, attempt(ADA, network("a"), 1), all).await, []);
    assert_eq!(save(&it, attempt(ADA, other, 2), all).await, []);
    let again = save(&it, attempt(ADA, known.clone(), 3), all).await;
    assert_eq!(again, [counted(ADA, 0)]);
    assert_eq!(listed(&it, network("a"), all).await, [counted(ADA, 1)]);
    assert_eq!(listed(&it, known, all).await.len(), 2);
}

async fn tries_under_a_clock_that_was_ahead_do_not_count_and_are_deleted(it: Fixture) {
    let ahead = window(900, 1_100, 2_000);
    for milliseconds in [1_000, 1_500] {
        let new = attempt(ADA, network("a"), milliseconds);
        save(&it, new, ahead).await;
    }
    // a little ahead of this clock, as another node's may be: not counted yet, and not deleted
    let behind = window(0, 1_010, 1_510);
    assert_eq!(
        listed(&it, network("a"), behind).await,
        [counted(ADA, 1_000)]
    );
    save(&it, attempt(GRACE, network("b"), 950), behind).await;
    assert_eq!(listed(&it, network("a"), ahead).await.len(), 1);
    let later = window(900, 1_600, 2_000);
    assert_eq!(listed(&it, network("a"), later).await.len(), 2);
    // far ahead: deleted
    let set_back = window(-100, 20, 100);
    assert_eq!(
        save(&it, attempt(ADA, network("a"), 10), set_back).await,
        []
    );
    assert_eq!(listed(&it, network("a"), later).await, []);
}

async fn of_tries_at_once_the_last_sees_the_others(it: Fixture) {
    let trying = (0..20).map(|_| {
        let database = it.database.clone();
        tokio::spawn(async move {
            let new = attempt(ADA, network("a"), 0);
            let saving = database.save_sign_in_try(new, window(-10, 0, 0));
            saving.await.unwrap().len()
        })
    });
    let mut seen = Vec::new();
    for trying in trying.collect::<Vec<_>>() {
        seen.push(trying.await.unwrap());
    }
    seen.sort_unstable();
    assert_eq!(seen.last(), Some(&19));
    assert!(
        seen.iter()
            .enumerate()
            .all(|(place, others)| *others >= place)
    );
}

async fn a_new_password_clears_the_tries_of_its_address(it: Fixture) {
    let ada = joined(&it, ADA, Role::Owner, 1).await;
    let all = window(-10, 100, 100);
    let known = SignInCounter::Browser(browser(1));
    for address in [ADA, GRACE] {
        save(&it, attempt(address, network("a"), 1), all).await;
        save(&it, attempt(address, known.clone(), 1), all).await;
    }
    assert!(renew(&it, it.account, ada, 2).await);
    let of_network = async || listed(&it, network("a"), all).await;
    assert_eq!(of_network().await.len(), 2, "a link alone changes nothing");
    assert!(accept(&it.database, 2, "new hash").await);
    assert_eq!(of_network().await, [counted(GRACE, 1)]);
    assert_eq!(listed(&it, known, all).await, [counted(GRACE, 1)]);

    save(&it, attempt(ADA, network("a"), 2), all).await;
    let checked = password_of(&it, ADA).await.unwrap();
    let (database, address) = (&it.database, EmailHash::of(&email(ADA)));
    let changing =
        database.change_password(checked, address, "another", new_session(3), it.stamp(1));
    assert!(changing.await.unwrap());
    assert_eq!(of_network().await, [counted(GRACE, 1)]);
}

async fn sign_in(it: &Fixture, address: &str, byte: u8, before: Option<TokenHash>) {
    let checked = password_of(it, address).await.unwrap();
    let session = NewSession {
        browser: NewBrowser {
            hash: browser(byte),
            before,
        },
        ..new_session(byte)
    };
    let beginning = it.database.begin_session(checked, session, it.stamp(1));
    assert!(beginning.await.unwrap());
}

async fn a_browser_is_known_by_its_newest_cookie_alone(it: Fixture) {
    joined(&it, ADA, Role::Owner, 1).await;
    assert!(is_known(&it, browser(1), ADA).await);
    assert!(!is_known(&it, browser(1), GRACE).await, "not of others");
    sign_in(&it, ADA, 2, Some(browser(1))).await;
    assert!(!is_known(&it, browser(1), ADA).await);
    assert!(is_known(&it, browser(2), ADA).await);
    // an invented cookie is not taken over
    sign_in(&it, ADA, 3, Some(TokenHash::new([99; 32]))).await;
    assert!(!is_known(&it, TokenHash::new([99; 32]), ADA).await);
    assert!(is_known(&it, browser(2), ADA).await && is_known(&it, browser(3), ADA).await);
    let delete_old = async |signed_in_after| {
        let database = &it.database;
        let after = moment(signed_in_after);
        let deleting = database.delete_expired_sessions(alive(0, 0), after, moment(0));
        deleting.await.unwrap();
    };
    delete_old(9).await;
    assert!(is_known(&it, browser(3), ADA).await);
    delete_old(10).await;
    assert!(!is_known(&it, browser(3), ADA).await);
}

async fn people_who_share_a_browser_stay_known(it: Fixture) {
    joined(&it, ADA, Role::Owner, 1).await;
    joined(&it, GRACE, Role::Owner, 2).await;
    sign_in(&it, GRACE, 3, Some(browser(1))).await;
    assert!(is_known(&it, browser(3), ADA).await && is_known(&it, browser(3), GRACE).await);
    sign_in(&it, ADA, 4, Some(browser(3))).await;
    assert!(is_known(&it, browser(4), ADA).await && is_known(&it, browser(4), GRACE).await);
    for address in [ADA, GRACE] {
        assert!(!is_known(&it, browser(3), address).await);
    }
}
