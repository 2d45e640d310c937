//! What owners, operators and links do to the one-time codes of others.

use refract_domain::account::{PersonName, Role};
use refract_domain::event::EventAction;
use refract_domain::ids::PersonId;
use refract_identity::people::{AccountActor, CodeError, CodesDue, PersonError, TypedPassword};
use refract_test_support::on_both;
use uuid::Uuid;

use crate::fixture::{Fixture, account};
use crate::one_time_codes::{code, finish, notes_of, pending, protected};
use crate::people::{ADA, PASSWORD, accept, invite, joined, signed_in};
use crate::sign_in::{OFFICE, stranger, who};

on_both!(
    an_owner_switches_off_the_codes_of_others,
    a_link_for_a_new_password_removes_the_codes,
    a_new_password_ends_sign_ins_that_need_a_code,
    a_removed_person_has_no_codes,
    required_codes_are_set_up_first,
);

async fn an_owner_switches_off_the_codes_of_others(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let (_, owner) = joined(&it, "grace@example.com").await;
    let grace = who(&it, &owner).await;
    let people = it.identity.people();
    let client = stranger(OFFICE);
    let token = pending(&it, &client, ADA).await.unwrap();
    let listed = people.list(it.account).await.unwrap();
    let has_codes = listed.iter().map(|person| person.has_codes);
    assert_eq!(has_codes.collect::<Vec<_>>(), [true, false]);
    let actor = AccountActor::person(it.account, grace.person);
    for _ in 0..2 {
        people
            .remove_codes(&actor, ada.person.person)
            .await
            .unwrap();
    }
    assert_eq!(notes_of(&it, EventAction::CodesRemoved).await, [""]);
    let over = finish(&it, &client, &token, &code(&ada.secret, 1)).await;
    assert!(matches!(over, Err(CodeError::Over)));
    assert!(pending(&it, &client, ADA).await.is_none());
    // the person learns who did it
    let person = signed_in(&it, &ada.session).await.unwrap();
    let from = person.first_unseen_event.unwrap();
    let events = it.identity.events();
    let notices = events.change_notices(it.account, person.person, from);
    let notices = notices.await.unwrap();
    assert_eq!(notices.len(), 1);
    assert_eq!(notices[0].change.event.action, EventAction::CodesRemoved);
    // nobody else's
    let stranger = PersonId::new(Uuid::now_v7());
    let unknown = people.remove_codes(&actor, stranger).await;
    assert!(matches!(unknown, Err(PersonError::NotFound)));
    let elsewhere = AccountActor::operator(account(&it.database).await);
    let other = people.remove_codes(&elsewhere, ada.person.person).await;
    assert!(matches!(other, Err(PersonError::NotFound)));
}

async fn a_link_for_a_new_password_removes_the_codes(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let people = it.identity.people();
    let actor = AccountActor::operator(it.account);
    let link = people.reset(&actor, ada.person.person).await.unwrap();
    assert!(people.has_codes(ada.person.person).await.unwrap());
    accept(&it, &link, PASSWORD).await.unwrap();
    assert!(!people.has_codes(ada.person.person).await.unwrap());
    assert!(pending(&it, &stranger(OFFICE), ADA).await.is_none());
    let removed = notes_of(&it, EventAction::CodesRemoved).await;
    assert_eq!(removed, ["by a link"]);

    let grace = protected(&it, "grace@example.com").await;
    let token = people.sign_in_link(&actor, grace.person.person).await;
    let token = token.unwrap().unwrap();
    let client = stranger(OFFICE);
    let signing_in = people.sign_in_by_link(&client, &token, None);
    assert!(signing_in.await.unwrap().is_some());
    let removed = notes_of(&it, EventAction::CodesRemoved).await;
    assert_eq!(removed, ["by a link"; 2]);
}

async fn a_new_password_ends_sign_ins_that_need_a_code(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let client = stranger(OFFICE);
    let token = pending(&it, &client, ADA).await.unwrap();
    let changing = it.identity.people().change_password(
        &client,
        &ada.person,
        TypedPassword::new(PASSWORD),
        TypedPassword::new("another 9kQ3 one"),
        None,
    );
    changing.await.unwrap();
    let over = finish(&it, &client, &token, &code(&ada.secret, 1)).await;
    assert!(matches!(over, Err(CodeError::Over)));
    let people = it.identity.people();
    assert!(people.has_codes(ada.person.person).await.unwrap());
}

async fn a_removed_person_has_no_codes(it: Fixture) {
    joined(&it, "grace@example.com").await;
    let ada = protected(&it, ADA).await;
    let client = stranger(OFFICE);
    let token = pending(&it, &client, ADA).await.unwrap();
    let people = it.identity.people();
    let actor = AccountActor::operator(it.account);
    people.remove(&actor, ada.person.person).await.unwrap();
    let over = finish(&it, &client, &token, &code(&ada.secret, 1)).await;
    assert!(matches!(over, Err(CodeError::Over)));
    let codes = it.database.find_one_time_codes(ada.person.person).await;
    assert_eq!(codes.unwrap(), None);
}

async fn required_codes_are_set_up_first(it: Fixture) {
    let ada = protected(&it, ADA).await;
    let (_, session) = joined(&it, "grace@example.com").await;
    let invitation = invite(&it, "eve@corp.invalid", Role::Owner).await.unwrap();
    // an ending of an address exempts nobody, and links that sign in do
    let eve = accept(&it, &invitation, PASSWORD).await.unwrap();
    let people = it.identity.people();
    let actor = AccountActor::operator(it.account);
    let demo = invite(&it, "demo@example.com", Role::Owner).await.unwrap();
    let name = PersonName::parse("Demo owner").unwrap();
    people.accept_by_link(&demo.token, &name).await.unwrap();
    let link = people.sign_in_link(&actor, demo.person).await.unwrap();
    let link = link.unwrap();
    let client = stranger(OFFICE);
    let demo = people.sign_in_by_link(&client, &link, None).await.unwrap();
    let demo = demo.unwrap();
    let must = async || {
        let mut must = Vec::new();
        for session in [&ada.session, &session, &eve, &demo] {
            must.push(who(&it, session).await.codes_due == Some(CodesDue::SetUp));
        }
        must
    };
    assert_eq!(must().await, [false; 4]);
    for _ in 0..2 {
        people.set_codes_required(&actor, true).await.unwrap();
        assert!(people.are_codes_required(it.account).await.unwrap());
        assert_eq!(must().await, [false, true, true, false]);
    }
    let other = account(&it.database).await;
    assert!(!people.are_codes_required(other).await.unwrap());
    people
        .begin_codes_setup(&who(&it, &session).await)
        .await
        .unwrap();
    assert_eq!(
        must().await,
        [false, true, true, false],
        "it is not finished"
    );
    people.set_codes_required(&actor, false).await.unwrap();
    assert_eq!(must().await, [false; 4]);
    let set = notes_of(&it, EventAction::CodesRequirementSet).await;
    assert_eq!(set.len(), 2);
}
