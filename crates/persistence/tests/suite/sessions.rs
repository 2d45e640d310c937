//! Sessions of people who have joined, and tries to sign in.

use refract_domain::ids::SignInTryId;
use refract_domain::role::Role;
use refract_domain::token::TokenHash;
use refract_persistence::SignInTry;
use uuid::Uuid;

use crate::fixture::{Fixture, moment};
use crate::joined_people::{accept, email, joined, new_session, password_of, renew, signed_in};

on_both!(
    a_new_password_ends_the_sessions_before,
    a_session_of_an_old_password_does_not_begin,
    a_session_is_found_while_it_is_used,
    tries_are_counted_by_address_until_they_are_old,
    of_tries_at_once_the_last_sees_the_others,
);

async fn a_new_password_ends_the_sessions_before(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let password = password_of(&it, "ada@example.com");
    let checked = password.await.unwrap();
    let beginning = it.database.begin_session(checked, new_session(2));
    assert!(beginning.await.unwrap());
    assert_eq!(signed_in(&it, 2).await, Some(ada));
    renew(&it, it.account, ada, 3).await;
    assert!(accept(&it.database, 3, "new hash").await);
    for (byte, expected) in [(1, None), (2, None), (3, Some(ada))] {
        assert_eq!(signed_in(&it, byte).await, expected, "{byte}");
    }
}

async fn a_session_of_an_old_password_does_not_begin(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let password = password_of(&it, "ada@example.com");
    let checked = password.await.unwrap();
    renew(&it, it.account, ada, 3).await;
    assert!(accept(&it.database, 3, "new hash").await);
    let beginning = it.database.begin_session(checked, new_session(2));
    assert!(!beginning.await.unwrap());
    assert_eq!(signed_in(&it, 2).await, None);
}

async fn a_session_is_found_while_it_is_used(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Editor, 1).await;
    let hash = TokenHash([1; 32]);
    let find = async |used_after| {
        let found = it.database.find_session(hash, used_after).await.unwrap();
        found.map(|session| session.last_used_at)
    };
    let found = it.database.find_session(hash, moment(9)).await.unwrap();
    let found = found.unwrap();
    assert_eq!(
        (found.account, found.person, found.role),
        (it.account, ada, Role::Editor)
    );
    assert_eq!(
        (found.name.as_deref(), found.email.as_str()),
        (Some("Ada"), "ada@example.com")
    );
    assert_eq!(find(moment(10)).await, None);
    it.database
        .note_session_use(hash, moment(50))
        .await
        .unwrap();
    assert_eq!(find(moment(10)).await, Some(moment(50)));
    let delete = |used_after| it.database.delete_expired_sessions(used_after, moment(0));
    delete(moment(49)).await.unwrap();
    assert_eq!(find(moment(10)).await, Some(moment(50)));
    delete(moment(50)).await.unwrap();
    assert_eq!(find(moment(10)).await, None);
    joined(&it, "grace@example.com", Role::Editor, 2).await;
    let other = TokenHash([2; 32]);
    it.database.end_session(other).await.unwrap();
    it.database.end_session(other).await.unwrap();
    assert_eq!(signed_in(&it, 2).await, None);
}

fn attempt(address: &str, milliseconds: i64) -> SignInTry {
    SignInTry {
        id: SignInTryId(Uuid::now_v7()),
        email: email(address).hash(),
        tried_at: moment(milliseconds),
    }
}

async fn tries_are_counted_by_address_until_they_are_old(it: Fixture) {
    let save = async |address: &str, milliseconds: i64, since: i64| {
        let new = attempt(address, milliseconds);
        let others = it.database.save_sign_in_try(new, moment(since)).await;
        (new.id, others.unwrap())
    };
    assert!(save("ada@example.com", 0, -10).await.1.is_empty());
    assert_eq!(save("ada@example.com", 5, -5).await.1, [moment(0)]);
    assert!(save("grace@example.com", 6, -4).await.1.is_empty());
    let (id, others) = save("ada@example.com", 10, 0).await;
    assert_eq!(others, [moment(0), moment(5)]);
    it.database.delete_sign_in_try(id).await.unwrap();
    assert_eq!(save("ada@example.com", 11, 1).await.1, [moment(5)]);
    let deleted = save("ada@example.com", 12, 0).await.1;
    assert_eq!(deleted, [moment(5), moment(11)], "the first is deleted");
}

async fn of_tries_at_once_the_last_sees_the_others(it: Fixture) {
    let trying = (0..20).map(|_| {
        let database = it.database.clone();
        tokio::spawn(async move {
            let saving = database.save_sign_in_try(attempt("ada@example.com", 0), moment(-10));
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
