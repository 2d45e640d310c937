//! Sessions of people who have joined: how they begin, are used and end.

use refract_domain::account::{Role, TokenHash};
use refract_persistence::{EmailHash, EndedSessions, NewSession};
use refract_test_support::on_both;

use crate::fixture::{Fixture, moment};
use crate::joined_people::{
    accept, alive, browser, email, is_known, joined, new_session, password_of, renew, signed_in,
};

on_both!(
    a_new_password_ends_the_sessions_before,
    a_session_of_an_old_password_does_not_begin,
    a_session_is_found_while_it_is_used,
    a_session_ends_however_much_it_is_used,
    a_person_sees_and_ends_their_own_sessions,
    a_changed_password_ends_what_hung_on_the_old_one,
);

async fn a_new_password_ends_the_sessions_before(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let password = password_of(&it, "ada@example.com");
    let checked = password.await.unwrap();
    let beginning = it
        .database
        .begin_session(checked, new_session(2), it.stamp(1));
    assert!(beginning.await.unwrap());
    assert_eq!(signed_in(&it, 2).await, Some(ada));
    renew(&it, it.account, ada, 3).await;
    assert!(accept(&it.database, 3, "new hash").await);
    for (byte, expected) in [(1, None), (2, None), (3, Some(ada))] {
        assert_eq!(signed_in(&it, byte).await, expected, "{byte}");
        let is_known = is_known(&it, browser(byte), "ada@example.com").await;
        assert_eq!(is_known, expected.is_some(), "{byte}");
    }
}

async fn a_session_of_an_old_password_does_not_begin(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let password = password_of(&it, "ada@example.com");
    let checked = password.await.unwrap();
    renew(&it, it.account, ada, 3).await;
    assert!(accept(&it.database, 3, "new hash").await);
    let (checked_before, session) = (checked.clone(), new_session(2));
    let beginning = it
        .database
        .begin_session(checked_before, session, it.stamp(1));
    assert!(!beginning.await.unwrap());
    assert_eq!(signed_in(&it, 2).await, None);
    let address = EmailHash::of(&email("ada@example.com"));
    let database = &it.database;
    let changing = database.change_password(checked, address, "x", new_session(2), it.stamp(1));
    assert!(!changing.await.unwrap());
}

async fn a_session_is_found_while_it_is_used(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Editor, 1).await;
    let hash = TokenHash::new([1; 32]);
    let find = async |used_after| {
        let found = it.database.find_session(hash, alive(used_after, 0)).await;
        found.unwrap().map(|session| session.last_used_at)
    };
    let found = it.database.find_session(hash, alive(9, 9)).await.unwrap();
    let found = found.unwrap();
    assert_eq!(
        (found.account, found.person, found.role),
        (it.account, ada, Role::Editor)
    );
    assert_eq!(
        (found.name.as_deref(), found.email.as_str()),
        (Some("Ada"), "ada@example.com")
    );
    assert_eq!(find(10).await, None);
    it.database
        .note_session_use(hash, moment(50))
        .await
        .unwrap();
    assert_eq!(find(10).await, Some(moment(50)));
    let delete = async |used_after| {
        let (database, alive) = (&it.database, alive(used_after, 0));
        let deleting = database.delete_expired_sessions(alive, moment(0), moment(0));
        deleting.await.unwrap();
    };
    delete(49).await;
    assert_eq!(find(10).await, Some(moment(50)));
    delete(50).await;
    assert_eq!(find(10).await, None);
}

async fn a_session_ends_however_much_it_is_used(it: Fixture) {
    joined(&it, "ada@example.com", Role::Editor, 1).await;
    let hash = TokenHash::new([1; 32]);
    it.database
        .note_session_use(hash, moment(500))
        .await
        .unwrap();
    let is_found = async |begun_after| {
        let found = it.database.find_session(hash, alive(499, begun_after));
        found.await.unwrap().is_some()
    };
    assert!(is_found(9).await);
    assert!(!is_found(10).await);
    for (begun_after, is_kept) in [(9, true), (10, false)] {
        let alive = alive(0, begun_after);
        let deleting = it
            .database
            .delete_expired_sessions(alive, moment(0), moment(0));
        deleting.await.unwrap();
        assert_eq!(is_found(9).await, is_kept);
    }
}

async fn a_person_sees_and_ends_their_own_sessions(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let grace = joined(&it, "grace@example.com", Role::Editor, 2).await;
    for byte in 3..6 {
        let checked = password_of(&it, "ada@example.com").await.unwrap();
        let session = NewSession {
            now: moment(i64::from(byte) * 10),
            ..new_session(byte)
        };
        let beginning = it.database.begin_session(checked, session, it.stamp(1));
        assert!(beginning.await.unwrap());
    }
    let hash = |byte| TokenHash::new([byte; 32]);
    it.database
        .note_session_use(hash(3), moment(90))
        .await
        .unwrap();
    let listed = async |person, used_after, begun_after| {
        let alive = alive(used_after, begun_after);
        let listed = it.database.list_own_sessions(person, alive).await.unwrap();
        let bytes = listed.iter().map(|session| session.hash.bytes()[0]);
        bytes.collect::<Vec<_>>()
    };
    assert_eq!(listed(ada, 0, 0).await, [3, 5, 4, 1], "last used first");
    assert_eq!(
        listed(ada, 10, 30).await,
        [5, 4],
        "those that ended are not"
    );
    assert_eq!(listed(grace, 0, 0).await, [2]);
    let end = async |person, ended| {
        let database = &it.database;
        let ending = database.end_own_sessions(person, ended, alive(0, 0), it.stamp(1));
        ending.await.unwrap();
    };
    end(grace, EndedSessions::One(hash(4))).await;
    assert_eq!(listed(ada, 0, 0).await.len(), 4, "it is not hers to end");
    end(ada, EndedSessions::One(hash(4))).await;
    end(ada, EndedSessions::One(hash(4))).await;
    assert_eq!(listed(ada, 0, 0).await, [3, 5, 1]);
    end(ada, EndedSessions::AllBut(hash(5))).await;
    assert_eq!(listed(ada, 0, 0).await, [5]);
    assert_eq!(listed(grace, 0, 0).await, [2]);
}

async fn a_changed_password_ends_what_hung_on_the_old_one(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let grace = joined(&it, "grace@example.com", Role::Editor, 2).await;
    assert!(renew(&it, it.account, ada, 3).await);
    let checked = password_of(&it, "ada@example.com").await.unwrap();
    let address = EmailHash::of(&email("ada@example.com"));
    let database = &it.database;
    let changing = database.change_password(checked, address, "new", new_session(4), it.stamp(1));
    assert!(changing.await.unwrap());
    let password = password_of(&it, "ada@example.com").await.unwrap();
    assert_eq!(password.hash, "new");
    for (byte, expected) in [(1, None), (4, Some(ada)), (2, Some(grace))] {
        assert_eq!(signed_in(&it, byte).await, expected, "{byte}");
    }
    assert!(!is_known(&it, browser(1), "ada@example.com").await);
    assert!(is_known(&it, browser(4), "ada@example.com").await);
    assert!(is_known(&it, browser(2), "grace@example.com").await);
    assert!(!accept(&it.database, 3, "other").await, "the link is void");
}
