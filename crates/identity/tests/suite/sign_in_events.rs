//! Events of sign-in: who signed in, who was refused, and what people change about themselves.

use futures_util::future::join_all;
use refract_domain::account::PersonName;
use refract_domain::event::{Actor, EventAction, EventRequest, EventTarget};
use refract_domain::ids::PersonId;
use refract_identity::people;
use refract_identity::people::{AccountActor, SessionEnd, TypedPassword};
use refract_test_support::on_both;

use crate::events::all;
use crate::fixture::Fixture;
use crate::people::{ADA, PASSWORD, joined, signed_in, without_code};
use crate::sign_in::{ATTACKER, OFFICE, browser, change, exhaust, sign_in, stranger, who};

on_both!(
    what_people_do_about_themselves_has_its_event_and_is_no_news_to_them,
    each_wrong_try_has_an_event_and_stopped_ones_have_none,
    wrong_tries_at_once_write_no_more_events_than_are_let_through,
    a_wrong_present_password_is_a_refused_try,
    a_link_that_signs_in_has_one_event,
);

const NEW_PASSWORD: &str = "another 9kQ3 one";

/// A person's event: the action, whether the person did it, and the note.
type ListedEvent = (EventAction, bool, String);

/// The events of a person that were added after the first ones, oldest first.
async fn listed(it: &Fixture, person: PersonId, known: usize) -> Vec<ListedEvent> {
    let mut events = all(it).await;
    events.truncate(events.len() - known);
    let listed = events.into_iter().rev().map(|listed| {
        let event = listed.event;
        assert_eq!(event.target, EventTarget::Person(person));
        assert_eq!((event.from, event.to), (None, None));
        let is_own = event.stamp.actor == Actor::Person(person);
        assert!(is_own || event.stamp.actor == Actor::Node);
        let note = event.stamp.note.map(|note| note.to_string());
        (event.action, is_own, note.unwrap_or_default())
    });
    listed.collect()
}

fn own(action: EventAction, note: &str) -> ListedEvent {
    (action, true, note.to_owned())
}

fn refused(note: &str) -> ListedEvent {
    (EventAction::SignInRefused, false, note.to_owned())
}

const STOPPED: &str = "10 wrong tries, the next ones are stopped for a while";

async fn what_people_do_about_themselves_has_its_event_and_is_no_news_to_them(it: Fixture) {
    let (ada, first) = joined(&it, ADA).await;
    let known = all(&it).await.len();
    let (identity, client) = (&it.identity, stranger(OFFICE));
    let request = || Some(EventRequest::new(&"the-request"));
    let password = || TypedPassword::new(PASSWORD);
    let signing_in = identity
        .people()
        .sign_in(&client, ADA, password(), request());
    let second = without_code(signing_in.await.unwrap());
    let third = sign_in(&it, &client, ADA, PASSWORD).await.unwrap();
    let person = who(&it, &third).await;
    let name = PersonName::parse("Countess").unwrap();
    for _ in 0..2 {
        let renaming = identity.people().rename(&person, &name, request());
        renaming.await.unwrap();
        let session = first.token.hash();
        let ending = identity
            .people()
            .end_own_session(&person, session, request());
        ending.await.unwrap();
        let ending = identity.people().end_other_sessions(&person, request());
        ending.await.unwrap();
    }
    let new = TypedPassword::new(NEW_PASSWORD);
    let client = browser(OFFICE, &third.browser);
    let changing = identity
        .people()
        .change_password(&client, &person, password(), new, request());
    let fourth = changing.await.ok().unwrap();
    let person = who(&it, &fourth).await;
    assert_eq!(person.first_unseen_event, None, "nobody else did it");
    for _ in 0..2 {
        let ending = identity
            .people()
            .end_session(&person, SessionEnd::SignedOut, request());
        ending.await.unwrap();
    }
    let expected = [
        own(EventAction::SignedIn, ""),
        own(EventAction::SignedIn, ""),
        own(EventAction::NameSet, ""),
        own(EventAction::SessionEnded, ""),
        own(EventAction::SessionEnded, "1 session"),
        own(EventAction::PasswordChanged, ""),
        own(EventAction::SessionEnded, "signed out"),
    ];
    assert_eq!(listed(&it, ada.person, known).await, expected);
    let with_request = all(&it).await.into_iter().filter(|listed| {
        let request = listed.event.stamp.request.as_ref();
        request.is_some_and(|request| request.as_str() == "the-request")
    });
    assert_eq!(with_request.count(), 6, "all but one sign-in");
    assert!(signed_in(&it, &second).await.is_none());
    let again = sign_in(&it, &client, ADA, NEW_PASSWORD).await.unwrap();
    assert_eq!(who(&it, &again).await.first_unseen_event, None);
}

async fn each_wrong_try_has_an_event_and_stopped_ones_have_none(it: Fixture) {
    let (ada, session) = joined(&it, ADA).await;
    let known = all(&it).await.len();
    for nobody in ["nobody@example.com", "no address"] {
        assert!(
            sign_in(&it, &stranger(ATTACKER), nobody, "x")
                .await
                .is_err()
        );
    }
    assert_eq!(listed(&it, ada.person, known).await, []);
    // ten are let through, and one is blocked
    exhaust(&it, &stranger(ATTACKER), ADA).await;
    for _ in 0..5 {
        let stopped = sign_in(&it, &stranger(ATTACKER), ADA, "wrong").await;
        assert!(stopped.is_err());
    }
    let mut expected = vec![refused(""); 10];
    expected.push(refused(STOPPED));
    assert_eq!(listed(&it, ada.person, known).await, expected);
    let known_browser = browser(ATTACKER, &session.browser);
    for client in [&known_browser, &stranger(OFFICE)] {
        assert!(sign_in(&it, client, ADA, "wrong").await.is_err());
        expected.push(refused(""));
    }
    assert!(sign_in(&it, &stranger(OFFICE), ADA, PASSWORD).await.is_ok());
    expected.push(own(EventAction::SignedIn, ""));
    assert_eq!(listed(&it, ada.person, known).await, expected);
}

async fn wrong_tries_at_once_write_no_more_events_than_are_let_through(it: Fixture) {
    let (ada, _) = joined(&it, ADA).await;
    let known = all(&it).await.len();
    let client = stranger(ATTACKER);
    // more than can wait, and more than are let through
    join_all((0..24).map(|_| sign_in(&it, &client, ADA, "wrong"))).await;
    while sign_in(&it, &client, ADA, "wrong")
        .await
        .is_err_and(|error| matches!(error, people::SignInError::Wrong))
    {}
    let mut expected = vec![refused(""); 10];
    expected.push(refused(STOPPED));
    // of concurrent tries, the one that reaches the number need not be the last that began
    let mut listed = listed(&it, ada.person, known).await;
    listed.sort();
    assert_eq!(listed, expected);
}

async fn a_wrong_present_password_is_a_refused_try(it: Fixture) {
    let (ada, session) = joined(&it, ADA).await;
    let known = all(&it).await.len();
    for new in ["short", NEW_PASSWORD] {
        assert!(change(&it, &session, "wrong", new).await.is_err());
    }
    let expected = [refused("to change the password")];
    assert_eq!(listed(&it, ada.person, known).await, expected);
}

async fn a_link_that_signs_in_has_one_event(it: Fixture) {
    let (ada, _) = joined(&it, ADA).await;
    let operator = AccountActor::operator(it.account);
    let link = it
        .identity
        .people()
        .sign_in_link(&operator, ada.person)
        .await;
    let token = link.unwrap().unwrap();
    let known = all(&it).await.len();
    let client = stranger(OFFICE);
    let opening = (0..4).map(|_| it.identity.people().sign_in_by_link(&client, &token, None));
    let opened = join_all(opening).await;
    let signed_in = opened.into_iter().filter_map(Result::unwrap).count();
    assert_eq!(signed_in, 1);
    let expected = [own(EventAction::SignedIn, "by a link that signs in")];
    assert_eq!(listed(&it, ada.person, known).await, expected);
}
