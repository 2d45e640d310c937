//! People: invited, joined, given other roles and removed, with their links.

use refract_domain::account::{PersonName, Role, TokenHash};
use refract_domain::ids::PersonId;
use refract_persistence::{InviteOutcome, NewPerson, NewSession, Person, PersonOutcome};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account, moment, new_stamp};
use crate::joined_people::{
    accept, accept_in, alive, browser, email, invite, is_known, joined, link, link_is_good,
    new_person, new_session, password_of, people, renew, signed_in,
};

on_both!(
    an_invited_person_joins_once,
    of_two_who_take_up_one_link_at_once_one_succeeds,
    a_new_link_replaces_the_one_before,
    links_made_at_once_leave_one,
    an_address_belongs_to_one_account,
    an_expired_link_is_void,
    a_removed_person_is_gone_and_their_address_free,
    the_last_owner_who_joined_stays_one,
    of_two_owners_who_demote_each_other_one_stays,
    names_are_of_the_account_and_outlive_their_people,
    a_person_takes_another_name,
);

async fn an_invited_person_joins_once(it: Fixture) {
    let person = invite(&it, "ada@example.com", Role::Owner, 1).await;
    let expected = Person {
        id: person,
        email: email("ada@example.com"),
        name: None,
        role: Role::Owner,
        created_at: moment(0),
        link_expires_at: Some(moment(1_000)),
        last_used_at: None,
        has_codes: false,
    };
    assert_eq!(people(&it).await, std::slice::from_ref(&expected));
    let found = it
        .database
        .find_invitation(TokenHash::new([1; 32]), moment(1));
    let found = found.await.unwrap().unwrap();
    assert_eq!(
        (found.person, found.name, found.role),
        (person, None, Role::Owner)
    );
    assert!(
        it.database
            .find_password(&expected.email)
            .await
            .unwrap()
            .is_none()
    );

    assert!(accept(&it.database, 1, "hash").await);
    let joined = Person {
        name: Some("Ada".to_owned()),
        link_expires_at: None,
        last_used_at: Some(moment(10)),
        ..expected
    };
    assert_eq!(people(&it).await, std::slice::from_ref(&joined));
    let password = it.database.find_password(&joined.email).await.unwrap();
    assert_eq!(password.unwrap().hash, "hash");
    assert_eq!(signed_in(&it, 1).await, Some(person));
    assert!(
        !accept(&it.database, 1, "other").await,
        "the link is used up"
    );
    let password = it.database.find_password(&joined.email).await.unwrap();
    assert_eq!(password.unwrap().hash, "hash");
}

async fn of_two_who_take_up_one_link_at_once_one_succeeds(it: Fixture) {
    let person = invite(&it, "ada@example.com", Role::Owner, 1).await;
    let accepting = (10_u8..20).map(|byte| {
        let database = it.database.clone();
        tokio::spawn(async move {
            let session = new_session(byte);
            let password = format!("hash {byte}");
            let accepted = accept_in(&database, 1, &password, session).await;
            accepted.then_some(byte)
        })
    });
    let mut accepted = Vec::new();
    for accepting in accepting.collect::<Vec<_>>() {
        accepted.extend(accepting.await.unwrap());
    }
    assert_eq!(accepted.len(), 1);
    let password = password_of(&it, "ada@example.com");
    let expected = format!("hash {}", accepted[0]);
    assert_eq!(password.await.unwrap().hash, expected);
    for byte in 10..20 {
        let expected = (byte == accepted[0]).then_some(person);
        assert_eq!(signed_in(&it, byte).await, expected);
    }
}

async fn a_new_link_replaces_the_one_before(it: Fixture) {
    let first = invite(&it, "ada@example.com", Role::Reviewer, 1).await;
    let second = invite(&it, "ada@example.com", Role::Editor, 2).await;
    assert_eq!(first, second, "one person");
    assert!(!link_is_good(&it, 1, moment(1)).await);
    assert!(link_is_good(&it, 2, moment(1)).await);
    assert_eq!(people(&it).await[0].role, Role::Editor);
    assert!(renew(&it, it.account, first, 3).await);
    assert!(!link_is_good(&it, 2, moment(1)).await);
    assert!(accept(&it.database, 3, "hash").await);

    let again = new_person(&it, "ada@example.com", Role::Owner);
    let inviting = it
        .database
        .invite_person(&again, link(4), it.stamp(0))
        .await
        .unwrap();
    assert_eq!(inviting, InviteOutcome::HasJoined);
    assert_eq!(people(&it).await[0].role, Role::Editor);
    assert!(renew(&it, it.account, first, 5).await);
    assert_eq!(signed_in(&it, 3).await, Some(first), "nothing ends yet");
    let elsewhere = account(&it.database, "elsewhere").await;
    for (account, person) in [
        (elsewhere, first),
        (it.account, PersonId::new(Uuid::now_v7())),
    ] {
        assert!(!renew(&it, account, person, 6).await);
    }
}

async fn links_made_at_once_leave_one(it: Fixture) {
    let inviting = (1_u8..11).map(|byte| {
        let (database, new) = (
            it.database.clone(),
            new_person(&it, "ada@example.com", Role::Reviewer),
        );
        let stamp = it.stamp(0);
        tokio::spawn(async move {
            let inviting = database.invite_person(&new, link(byte), stamp);
            inviting.await.unwrap()
        })
    });
    for inviting in inviting.collect::<Vec<_>>() {
        assert!(matches!(inviting.await.unwrap(), InviteOutcome::Invited(_)));
    }
    assert_eq!(people(&it).await.len(), 1);
    let mut good = 0;
    for byte in 1..11 {
        good += usize::from(link_is_good(&it, byte, moment(1)).await);
    }
    assert_eq!(good, 1);
}

async fn an_address_belongs_to_one_account(it: Fixture) {
    invite(&it, "ada@example.com", Role::Owner, 1).await;
    let elsewhere = account(&it.database, "elsewhere").await;
    let new = NewPerson {
        account: elsewhere,
        ..new_person(&it, "ada@example.com", Role::Owner)
    };
    let inviting = it
        .database
        .invite_person(&new, link(2), new_stamp(elsewhere, 0))
        .await
        .unwrap();
    assert_eq!(inviting, InviteOutcome::OfOtherAccount);
    assert_eq!(it.database.list_people(elsewhere).await.unwrap(), []);
    assert!(link_is_good(&it, 1, moment(1)).await);
}

async fn an_expired_link_is_void(it: Fixture) {
    invite(&it, "ada@example.com", Role::Owner, 1).await;
    assert!(link_is_good(&it, 1, moment(999)).await);
    assert!(!link_is_good(&it, 1, moment(1_000)).await);
    let late = NewSession {
        now: moment(1_000),
        ..new_session(1)
    };
    assert!(!accept_in(&it.database, 1, "hash", late).await);
    let deleting = it
        .database
        .delete_expired_sessions(alive(0, 0), moment(0), moment(1_000));
    deleting.await.unwrap();
    assert!(!link_is_good(&it, 1, moment(1)).await);
}

async fn a_removed_person_is_gone_and_their_address_free(it: Fixture) {
    assert!(!it.database.has_people().await.unwrap());
    joined(&it, "ada@example.com", Role::Owner, 1).await;
    assert!(it.database.has_people().await.unwrap());
    let grace = joined(&it, "grace@example.com", Role::Editor, 2).await;
    renew(&it, it.account, grace, 3).await;
    let elsewhere = account(&it.database, "elsewhere").await;
    let remove = async |account| {
        let removing = it.database.remove_person(grace, new_stamp(account, 20));
        removing.await.unwrap()
    };
    assert_eq!(remove(elsewhere).await, PersonOutcome::NotFound);
    assert_eq!(signed_in(&it, 2).await, Some(grace));
    assert!(is_known(&it, browser(2), "grace@example.com").await);
    assert_eq!(remove(it.account).await, PersonOutcome::Saved);
    assert_eq!(remove(it.account).await, PersonOutcome::NotFound);
    assert_eq!(signed_in(&it, 2).await, None);
    assert!(!is_known(&it, browser(2), "grace@example.com").await);
    assert!(!link_is_good(&it, 3, moment(1)).await);
    assert!(!accept(&it.database, 3, "hash").await);
    let password = password_of(&it, "grace@example.com");
    assert!(password.await.is_none());
    assert_eq!(people(&it).await.len(), 1);
    let again = joined(&it, "grace@example.com", Role::Reviewer, 4).await;
    assert_ne!(again, grace, "another person");
    assert!(!is_known(&it, browser(2), "grace@example.com").await);
}

async fn the_last_owner_who_joined_stays_one(it: Fixture) {
    let invited = invite(&it, "grace@example.com", Role::Owner, 1).await;
    let ada = joined(&it, "ada@example.com", Role::Owner, 2).await;
    let remove = |person| it.database.remove_person(person, it.stamp(20));
    let set = |person, role| it.database.set_person_role(person, role, it.stamp(20));
    assert_eq!(remove(ada).await.unwrap(), PersonOutcome::LastOwner);
    let setting = set(ada, Role::Editor).await.unwrap();
    assert_eq!(setting, PersonOutcome::LastOwner);
    assert_eq!(people(&it).await[1].role, Role::Owner);
    assert_eq!(signed_in(&it, 2).await, Some(ada));
    assert_eq!(set(ada, Role::Owner).await.unwrap(), PersonOutcome::Saved);
    assert!(accept(&it.database, 1, "hash").await);
    let setting = set(ada, Role::Editor).await.unwrap();
    assert_eq!(setting, PersonOutcome::Saved);
    assert_eq!(remove(invited).await.unwrap(), PersonOutcome::LastOwner);
    assert_eq!(remove(ada).await.unwrap(), PersonOutcome::Saved);
}

async fn of_two_owners_who_demote_each_other_one_stays(it: Fixture) {
    let mut owners = Vec::new();
    for byte in 1..6 {
        owners.push(joined(&it, &format!("{byte}@example.com"), Role::Owner, byte).await);
    }
    let demoting = owners.into_iter().map(|owner| {
        let (database, stamp) = (it.database.clone(), it.stamp(20));
        tokio::spawn(async move {
            let setting = database.set_person_role(owner, Role::Reviewer, stamp);
            setting.await.unwrap()
        })
    });
    let mut refused = 0;
    for demoting in demoting.collect::<Vec<_>>() {
        refused += usize::from(demoting.await.unwrap() == PersonOutcome::LastOwner);
    }
    assert_eq!(refused, 1);
    let roles = people(&it).await.into_iter().map(|person| person.role);
    assert_eq!(roles.filter(|role| *role == Role::Owner).count(), 1);
}

async fn names_are_of_the_account_and_outlive_their_people(it: Fixture) {
    joined(&it, "ada@example.com", Role::Owner, 1).await;
    let grace = joined(&it, "grace@example.com", Role::Editor, 2).await;
    let invited = invite(&it, "joan@example.com", Role::Editor, 3).await;
    let removing = it.database.remove_person(grace, it.stamp(20));
    removing.await.unwrap();
    let list = async |account| {
        let unknown = PersonId::new(Uuid::now_v7());
        let people = [grace, invited, unknown];
        let listed = it.database.list_person_names(account, &people).await;
        let mut listed = listed.unwrap();
        listed.sort_unstable_by_key(|row| row.id);
        listed
            .into_iter()
            .map(|row| (row.id, row.name))
            .collect::<Vec<_>>()
    };
    let expected = [(grace, Some("Ada".to_owned())), (invited, None)];
    assert_eq!(list(it.account).await, expected);
    let elsewhere = account(&it.database, "elsewhere").await;
    assert_eq!(list(elsewhere).await, []);
}

async fn a_person_takes_another_name(it: Fixture) {
    let ada = joined(&it, "ada@example.com", Role::Owner, 1).await;
    let grace = invite(&it, "grace@example.com", Role::Editor, 2).await;
    let name = PersonName::parse("Countess").unwrap();
    for person in [ada, grace] {
        let naming = it.database.set_person_name(person, &name, it.stamp(1));
        naming.await.unwrap();
    }
    let names: Vec<_> = people(&it).await.into_iter().map(|it| it.name).collect();
    let expected = [Some("Countess".to_owned()), None];
    assert_eq!(names, expected, "who has not joined has no name");
}
